import { JsonScanner } from './json-scanner.ts'
import { patternsOf } from './patterns.ts'
import { textsOf, unreadable, type ReportPart } from './read-body.ts'

/**
 * Reads the values of JSON that match one of the patterns, in memory for one value: documents that follow each other,
 * lists, objects on one or several lines, and lines of text between them. A list or object in which a longer pattern can
 * match is an empty value, and its parts follow. What cannot be read is a problem; the reader continues with the next
 * value. Throws if the body contains text but no value.
 */
export async function* jsonParts(
  body: AsyncIterable<Uint8Array>,
  ...patterns: readonly string[]
): AsyncGenerator<ReportPart> {
  const scanner = new JsonScanner(patternsOf(patterns))
  let problem: ReportPart | undefined
  const checked = function* (parts: readonly ReportPart[]): Generator<ReportPart> {
    for (const part of parts) {
      if (part.kind === 'problem' && !scanner.hasDocument) problem ??= part
      yield part
    }
  }
  for await (const text of textsOf(body)) yield* checked(scanner.push(text))
  yield* checked(scanner.end())
  if (problem?.kind === 'problem' && !scanner.hasDocument)
    throw unreadable(`it is not valid JSON: line ${problem.line}: ${problem.reason}`)
}

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
