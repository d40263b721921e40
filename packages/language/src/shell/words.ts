/**
 * Splits a text into words by the quoting rules of POSIX sh, without expansions.
 * Undefined if a quote is not closed or a backslash is the last character.
 */
export const shellWords = (text: string): string[] | undefined => {
  const words: string[] = []
  let word: string | undefined
  let quote: '' | "'" | '"' = ''
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (quote === "'") {
      if (char === "'") quote = ''
      else word = `${word ?? ''}${char}`
    } else if (char === '\\') {
      at++
      if (at === text.length) return undefined
      const next = text.charAt(at)
      const kept = quote === '"' && !'$`"\\\n'.includes(next) ? char : ''
      if (next !== '\n' || kept !== '') word = `${word ?? ''}${kept}${next}`
    } else if (char === quote) quote = ''
    else if (quote === '' && (char === "'" || char === '"')) {
      quote = char
      word ??= ''
    } else if (quote === '' && /[ \t\r\n]/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = `${word ?? ''}${char}`
  }
  if (quote !== '') return undefined
  return word === undefined ? words : [...words, word]
}
