import { AppError } from '@scanfarm/contracts'

/** Maximum nesting of arrays and objects. Recursive code could exhaust the stack on deeper values. */
export const MAX_JSON_DEPTH = 1_000

/** Refuses JSON text with too deep nesting. Does not check whether the text is valid JSON. */
export const refuseDeepJson = (text: string): void => {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const mark = text[at]
    if (mark === '"') at = endOfString(text, at)
    else if (mark === '[' || mark === '{') depth += 1
    else if (mark === ']' || mark === '}') depth -= 1
    if (depth > MAX_JSON_DEPTH)
      throw new AppError('invalid_json', `the body nests more than ${MAX_JSON_DEPTH} arrays or objects`)
  }
}

/** Index of the closing quote of the string that begins at `start`; the length of the text if there is none. */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text[before] === '\\') before -= 1
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}
