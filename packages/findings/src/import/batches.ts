import type { AssetContent, FindingContent } from '@scanfarm/contracts'
import type { ImportFormat } from '../formats.ts'
import type { Imported } from './read-body.ts'
import { ffufAssets } from './ffuf.ts'
import { jsonlFindings } from './jsonl.ts'
import { masscanAssets } from './masscan.ts'
import { nmapFindings } from './nmap.ts'
import { sarifFindings } from './sarif.ts'
import { sslscanFindings } from './sslscan.ts'
import { testsslFindings } from './testssl.ts'
import { wapitiFindings } from './wapiti.ts'
import { whatwebAssets } from './whatweb.ts'

/** Records that are saved together. */
export interface Batch {
  readonly vulnerabilities: FindingContent[]
  readonly assets: AssetContent[]
  /** Hosts that the report names as reached. */
  readonly reached: string[]
  errors: number
}

const emptyBatch = (): Batch => ({ vulnerabilities: [], assets: [], reached: [], errors: 0 })

/** Maximum records of a batch, and characters of their JSON. */
const MAX_RECORDS = 500
const MAX_CHARACTERS = 4 * 1024 * 1024

const READERS: Readonly<Record<ImportFormat, (body: AsyncIterable<Uint8Array>) => AsyncIterable<Imported>>> =
  {
    sarif: sarifFindings,
    nuclei: jsonlFindings,
    nmap: nmapFindings,
    jsonl: jsonlFindings,
    whatweb: whatwebAssets,
    sslscan: sslscanFindings,
    testssl: testsslFindings,
    wapiti: wapitiFindings,
    masscan: masscanAssets,
    ffuf: ffufAssets,
  }

/** Reads a file of findings in batches, on the caller's thread. */
export async function* batchesOf(
  format: ImportFormat,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Batch> {
  let batch = emptyBatch()
  let characters = 0
  for await (const record of READERS[format](body)) {
    if (record.kind === 'error') batch.errors += 1
    else if (record.kind === 'reached') batch.reached.push(record.host)
    else {
      characters += sizeOf(record.content)
      if (record.kind === 'asset') batch.assets.push(record.content)
      else batch.vulnerabilities.push(record.content)
    }
    const records = batch.vulnerabilities.length + batch.assets.length + batch.reached.length
    if (records < MAX_RECORDS && characters < MAX_CHARACTERS) continue
    yield batch
    batch = emptyBatch()
    characters = 0
  }
  const { vulnerabilities, assets, reached, errors } = batch
  if (vulnerabilities.length + assets.length + reached.length + errors > 0) yield batch
}

const sizeOf = (content: object): number => {
  let size = 0
  for (const value of Object.values(content)) if (typeof value === 'string') size += value.length
  return size
}
