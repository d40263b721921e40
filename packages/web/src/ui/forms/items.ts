/** The items of an input, without those that are empty. */
export const itemsOf = (text = '', separator = ','): string[] =>
  text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '')

export const linesOf = (text: string | undefined): string[] => itemsOf(text, '\n')
