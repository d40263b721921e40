import {
  AppError,
  MAX_IMPORT_PROBLEMS,
  type AssetContent,
  type FindingContent,
  type ImportProblem,
  type NotTested,
} from '@scanfarm/contracts'
import { formOf, type ImportFormat } from '../formats.ts'
import { isAbsolute } from './paths.ts'
import type { Imported } from './read-body.ts'
import { dirsearchAssets } from './web/dirsearch.ts'
import { ffufAssets } from './web/ffuf.ts'
import { gitleaksFindings } from './code/gitleaks.ts'
import { gobusterAssets } from './web/gobuster.ts'
import { gosecFindings } from './code/gosec.ts'
import { grypeFindings } from './code/grype.ts'
import { jsonlFindings } from './json/jsonl.ts'
import { masscanAssets } from './network/masscan.ts'
import { nmapFindings } from './network/nmap.ts'
import { npmAuditFindings } from './code/npm-audit.ts'
import { nucleiFindings } from './web/nuclei.ts'
import { osvScannerFindings } from './code/osv-scanner.ts'
import { pipAuditFindings } from './code/pip-audit.ts'
import { sarifFindings } from './sarif/sarif.ts'
import { sslscanFindings } from './tls/sslscan.ts'
import { sslyzeFindings } from './tls/sslyze.ts'
import { testsslFindings } from './tls/testssl.ts'
import { trivyFindings } from './code/trivy.ts'
import { wapitiFindings } from './web/wapiti.ts'
import { whatwebAssets } from './web/whatweb.ts'
import { zmapAssets } from './network/zmap.ts'

/** Records that are saved together. */
export interface Batch {
  readonly vulnerabilities: FindingContent[]
  readonly assets: AssetContent[]
  /** Hosts that the report names as reached. */
  readonly reached: string[]
  /** Hosts and files that the scan could not look at, and places at which a check failed. */
  readonly failed: {
    readonly hosts: string[]
    readonly files: string[]
    readonly places: NotTested[]
  }
  /** The folder that absolute paths have in common and are relative to, if nothing named the folder that was scanned. */
  folder?: string
  /** Unusable records, and failures of the scan. */
  errors: number
  /** Those errors that only concern a host or file of `failed`. */
  failures: number
  /** The reasons of the first errors of the report. */
  readonly problems: ImportProblem[]
}

const emptyBatch = (): Batch => ({
  vulnerabilities: [],
  assets: [],
  reached: [],
  failed: { hosts: [], files: [], places: [] },
  errors: 0,
  failures: 0,
  problems: [],
})

/** Maximum records of a batch, and characters of their JSON. */
const MAX_RECORDS = 500
const MAX_CHARACTERS = 4 * 1024 * 1024

/** `root`: the folder that was scanned, or `""`; absolute paths of files in it become relative. */
type Reader = (body: AsyncIterable<Uint8Array>, root: string) => AsyncIterable<Imported>

const READERS: Readonly<Record<ImportFormat, Reader>> = {
  sarif: sarifFindings,
  nuclei: nucleiFindings,
  nmap: nmapFindings,
  jsonl: jsonlFindings,
  whatweb: whatwebAssets,
  sslscan: sslscanFindings,
  testssl: testsslFindings,
  wapiti: wapitiFindings,
  masscan: masscanAssets,
  ffuf: ffufAssets,
  dirsearch: dirsearchAssets,
  gobuster: gobusterAssets,
  zmap: zmapAssets,
  sslyze: sslyzeFindings,
  gitleaks: gitleaksFindings,
  gosec: gosecFindings,
  'pip-audit': pipAuditFindings,
  'npm-audit': npmAuditFindings,
  'osv-scanner': osvScannerFindings,
  trivy: trivyFindings,
  grype: grypeFindings,
}

/** Reads a file of findings in batches, on the caller's thread. */
export async function* batchesOf(
  format: ImportFormat,
  body: AsyncIterable<Uint8Array>,
  root: string,
): AsyncGenerator<Batch> {
  let batch = emptyBatch()
  let characters = 0
  let problems = 0
  for await (const record of recordsOf(format, body, root)) {
    if (record.kind === 'error' || record.kind === 'failed') {
      addError(batch, record)
      if (problems++ < MAX_IMPORT_PROBLEMS) batch.problems.push(problemOf(record))
    } else if (record.kind === 'reached') batch.reached.push(record.host)
    else if (record.kind === 'silent') {
      const { kind: _, host: place, ...why } = record
      batch.failed.places.push({ place, ...why, silent: true })
    } else if (record.kind === 'folder') batch.folder = record.folder
    else {
      characters += sizeOf(record.content)
      if (record.kind === 'asset') batch.assets.push(record.content)
      else batch.vulnerabilities.push(record.content)
    }
    const { hosts, files, places } = batch.failed
    const named = batch.reached.length + hosts.length + files.length + places.length
    const records = batch.vulnerabilities.length + batch.assets.length + named
    if (records < MAX_RECORDS && characters < MAX_CHARACTERS) continue
    yield batch
    const { folder } = batch
    batch = { ...emptyBatch(), ...(folder !== undefined && { folder }) }
    characters = 0
  }
  const { vulnerabilities, assets, reached, errors, failed } = batch
  if (vulnerabilities.length + assets.length + reached.length + errors + failed.places.length > 0) yield batch
}

/** A file that is refused may be a report of the tool in another form. */
async function* recordsOf(...[format, ...of]: Parameters<typeof batchesOf>): AsyncGenerator<Imported> {
  try {
    yield* READERS[format](...of)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error
    throw new AppError(error.code, `${error.message}; expected: ${formOf(format)}`, { cause: error })
  }
}

type Failure = Extract<Imported, { kind: 'error' | 'failed' }>

const addError = (batch: Batch, record: Failure): void => {
  batch.errors += 1
  if (record.kind === 'error') return
  const { host, file, check, reason } = record
  // An absolute path does not tell which file of the checkout it is: then all records stay open.
  if (file === undefined ? host === undefined : isAbsolute(file)) return
  batch.failures += 1
  if (host !== undefined && check !== undefined) batch.failed.places.push({ place: host, check, reason })
  else if (host !== undefined) batch.failed.hosts.push(host)
  if (file !== undefined) batch.failed.files.push(file)
}

const MAX_REASON = 500

const problemOf = (record: Failure): ImportProblem => {
  const place = record.kind === 'failed' ? (record.file ?? record.host) : undefined
  const reason = record.reason ?? 'a record is not a finding of this format'
  return {
    reason: (place === undefined ? reason : `${place}: ${reason}`).slice(0, MAX_REASON).toWellFormed(),
    ...(record.kind === 'error' && record.line !== undefined ? { line: record.line } : {}),
  }
}

const sizeOf = (content: object): number => {
  let size = 0
  for (const value of Object.values(content)) if (typeof value === 'string') size += value.length
  return size
}
