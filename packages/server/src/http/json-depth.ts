import { AppError } from '@scanfarm/contracts'

/** Lists and objects within each other. Whatever walks through deeper ones may run out of stack. */
export const MAX_JSON_DEPTH = 1_000

/** Refuses JSON text whose lists and objects stand too deep in each other; whether it is JSON is not looked at. */
export const refuseDeepJson = (text: string): void => {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const mark = text[at]
    if (mark === '"') at = endOfString(text, at)
    else if (mark === '[' || mark === '{') depth += 1
    else if (mark === ']' || mark === '}') depth -= 1
    if (depth > MAX_JSON_DEPTH)
      throw new AppError(
        'invalid_json',
        `the body has more than ${MAX_JSON_DEPTH} lists or objects within each other`,
      )
  }
}

/** Where the string that begins there ends; the end of the text when it does not. */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text[before] === '\\') before -= 1
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}
