/** A part of the code with the text that replaces it. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The code after all edits. Those of one place keep their order. */
export const applied = (edits: readonly Edit[], code: string): string => {
  let [result, at] = ['', 0]
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    result += code.slice(at, start) + text
    at = end
  }
  return result + code.slice(at)
}
