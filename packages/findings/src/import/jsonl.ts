import type { FindingContent } from '@scanfarm/contracts'
import { findingOf } from '../content.ts'
import { isRecord } from '../fields.ts'
import { linesOf, type Imported } from './read-body.ts'

/** One finding per line, as written by nuclei or exported by Scanfarm. An invalid line counts as an error. */
export async function* jsonlFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  for await (const line of linesOf(body)) {
    const finding = findingIn(line)
    yield finding === undefined ? { kind: 'error' } : { kind: 'vulnerability', content: finding }
  }
}

const findingIn = (line: string): FindingContent | undefined => {
  try {
    const row: unknown = JSON.parse(line)
    return isRecord(row) ? findingOf(row) : undefined
  } catch {
    return undefined
  }
}
