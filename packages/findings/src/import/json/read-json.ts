import { JsonScanner } from './json-scanner.ts'
import { patternsOf } from './patterns.ts'
import { textsOf, unreadable, type ReportPart } from '../read-body.ts'

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
