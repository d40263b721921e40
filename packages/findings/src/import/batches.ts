import type { AssetContent, FindingContent } from '@scanfarm/contracts'
import type { ImportFormat } from '../formats.ts'
import type { Imported } from './read-body.ts'
import { jsonlFindings } from './jsonl.ts'
import { nmapFindings } from './nmap.ts'
import { sarifFindings } from './sarif.ts'

/** Records that are saved together. */
export interface Batch {
  readonly vulnerabilities: FindingContent[]
  readonly assets: AssetContent[]
  errors: number
}

/** Maximum records of a batch, and characters of their JSON. */
const MAX_RECORDS = 500
const MAX_CHARACTERS = 4 * 1024 * 1024

const READERS: Readonly<Record<ImportFormat, (body: AsyncIterable<Uint8Array>) => AsyncIterable<Imported>>> =
  {
    sarif: sarifFindings,
    nuclei: jsonlFindings,
    nmap: nmapFindings,
    jsonl: jsonlFindings,
  }

/** Reads a file of findings in batches, on the caller's thread. */
export async function* batchesOf(
  format: ImportFormat,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Batch> {
  let batch: Batch = { vulnerabilities: [], assets: [], errors: 0 }
  let characters = 0
  for await (const record of READERS[format](body)) {
    if (record.kind === 'error') batch.errors += 1
    else {
      characters += sizeOf(record.content)
      if (record.kind === 'asset') batch.assets.push(record.content)
      else batch.vulnerabilities.push(record.content)
    }
    const records = batch.vulnerabilities.length + batch.assets.length
    if (records < MAX_RECORDS && characters < MAX_CHARACTERS) continue
    yield batch
    batch = { vulnerabilities: [], assets: [], errors: 0 }
    characters = 0
  }
  if (batch.vulnerabilities.length + batch.assets.length + batch.errors > 0) yield batch
}

const sizeOf = (content: object): number => {
  let size = 0
  for (const value of Object.values(content)) if (typeof value === 'string') size += value.length
  return size
}
