import type { FindingContent } from '@scanfarm/contracts'
import { findingOf } from '../content.ts'
import { isRecord } from '../fields.ts'
import { linesOf } from './lines.ts'
import type { Imported } from './batches.ts'

/** One finding a line: nuclei, or our own export. A line that is none counts as an error. */
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
