import { isRecord } from '../../fields.ts'
import { isNuclei } from '../web/nuclei-row.ts'
import { nucleiRecord } from '../web/nuclei.ts'
import type { Imported } from '../read-body.ts'
import { jsonParts } from './read-json.ts'
import { finding, unusable } from '../records.ts'

/** One finding per line, as exported by Scanfarm or written by any tool that names problem and place, also as a list. */
export async function* jsonlFindings(body: AsyncIterable<Uint8Array>): AsyncGenerator<Imported> {
  for await (const part of jsonParts(body, '', '[]')) {
    if (part.kind === 'problem') yield unusable(part.reason, part.line)
    else if (part.at === '' && (Array.isArray(part.value) || part.value === null)) continue
    else if (!isRecord(part.value)) yield unusable('it is not an object', part.line)
    else if (isNuclei(part.value)) yield* nucleiRecord(part.value, part.line)
    else yield finding(part.value, part.line)
  }
}
