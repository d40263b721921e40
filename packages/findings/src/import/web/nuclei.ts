import { isRecord, type Unknown } from '../../fields.ts'
import { isNuclei, nucleiMiss, nucleiRow } from './nuclei-row.ts'
import type { Imported, ReportPart } from '../read-body.ts'
import { jsonParts } from '../json/read-json.ts'
import { failed, finding, unusable } from '../records.ts'

/** Lines of the log, `[INF] …`, with and without colours. */
const LOG = /^(?:\u001b?\[[\d;]*m)*\[?(?:\u001b?\[[\d;]*m)*(INF|WRN|ERR|DBG|VER|FTL)(?:\b|\u001b)/

/**
 * Reads JSON of nuclei of every version: lines, objects over several lines, and lists. A template that did not match is no
 * finding; a host that nuclei could not test keeps its records.
 */
export async function* nucleiFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  for await (const part of partsWithLog(body)) {
    if (part.kind === 'problem') {
      const level = LOG.exec(part.text)?.[1]
      if (level === undefined) yield unusable(part.reason, part.line)
      else if (level === 'FTL') yield failed(part.text)
      continue
    }
    const { value: row, line } = part
    if (Array.isArray(row) && part.at === '') continue
    if (!isRecord(row) || !isNuclei(row)) {
      yield unusable('it is not a line of nuclei (-jsonl): template-id is missing', line)
      continue
    }
    yield* nucleiRecord(row, line)
  }
}

export function* nucleiRecord(row: Unknown, line: number): Generator<Imported> {
  const miss = nucleiMiss(row)
  if (miss === undefined) yield finding(nucleiRow(row), line)
  else if (miss.error !== '') yield failed(miss.error, miss.host === '' ? {} : { host: miss.host })
}

/** A scan without results may have written nothing but its log. */
async function* partsWithLog(body: AsyncIterable<Uint8Array>): AsyncGenerator<ReportPart> {
  let isLog = false
  try {
    for await (const part of jsonParts(body, '', '[]')) {
      isLog = part.kind === 'problem' && LOG.test(part.text)
      yield part
    }
  } catch (error) {
    if (!isLog) throw error
  }
}
