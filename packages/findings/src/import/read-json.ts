import { unreadable } from './read-body.ts'

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw unreadable('it is not valid JSON', 'invalid_input', error)
  }
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/gs

/** The objects and lists of a text that follow each other, as when reports are concatenated. */
export function* jsonDocuments(text: string): Generator<unknown> {
  let depth = 0
  let end = 0
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth += 1
    else if (token === '}' || token === ']') depth -= 1
    if (depth !== 0) continue
    yield parseJson(text.slice(end, index + token.length))
    end = index + token.length
  }
  if (end === 0 || text.slice(end).trim() !== '') throw unreadable('it is not valid JSON, or is truncated')
}
