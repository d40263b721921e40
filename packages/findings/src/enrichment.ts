import { createGunzip } from 'node:zlib'
import { Readable } from 'node:stream'
import { AppError } from '@scanfarm/contracts'
import { asText, at } from './fields.ts'
import { linesOf, rejoined } from './import/read-body.ts'
import { jsonParts } from './import/json/read-json.ts'

/** Most bytes of a file, after it is unpacked. */
export const MAX_ENRICHMENT_BYTES = 64 * 1024 * 1024
const MAX_CVES = 1_000_000

/** A file about CVEs: scores of EPSS by FIRST, or the catalog of exploited vulnerabilities of CISA. */
export type Enrichment =
  | {
      readonly kind: 'epss'
      /** Of the model, or `""`. */
      readonly version: string
      /** When it was published, or `""`. */
      readonly published: string
      readonly rows: readonly { readonly cve: string; readonly score: number; readonly percentile: number }[]
    }
  | {
      readonly kind: 'kev'
      readonly version: string
      readonly published: string
      readonly rows: readonly { readonly cve: string; readonly added: string; readonly due: string | null }[]
    }

const refused = (problem: string, cause?: unknown): AppError =>
  new AppError('invalid_input', problem, { details: [{ path: '/file', message: problem }], cause })

const NEITHER =
  'it is neither a CSV file of EPSS (cve,epss,percentile; also in gzip) nor the JSON catalog of CISA KEV'

/** Reads a whole file, whose kind its beginning shows. A line or entry that is not valid refuses the file. */
export async function readEnrichment(body: AsyncIterable<Uint8Array>): Promise<Enrichment> {
  const chunks = body[Symbol.asyncIterator]()
  const first = await chunks.next()
  const head = first.done === true ? Buffer.alloc(0) : Buffer.from(first.value)
  const whole = rejoined([head], chunks)
  if (head[0] === 0x1f) return await readPlain(bounded(unpacked(whole)))
  return await readPlain(bounded(whole))
}

async function* unpacked(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(body)
  const gunzip = createGunzip()
  source.on('error', (error) => gunzip.destroy(error))
  try {
    for await (const chunk of source.pipe(gunzip)) yield chunk as Buffer
  } catch (error) {
    if (error instanceof AppError) throw error
    throw refused('it cannot be unpacked: it is no gzip file, or it is incomplete', error)
  } finally {
    source.destroy()
  }
}

async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_ENRICHMENT_BYTES)
      throw new AppError('payload_too_large', `the file is larger than ${MAX_ENRICHMENT_BYTES} bytes`)
    yield chunk
  }
}

const readPlain = async (body: AsyncIterable<Uint8Array>): Promise<Enrichment> => {
  const chunks = body[Symbol.asyncIterator]()
  const first = await chunks.next()
  const head = first.done === true ? Buffer.alloc(0) : Buffer.from(first.value)
  const whole = rejoined([head], chunks)
  return /^\ufeff?\s*\{/.test(head.toString('utf8', 0, 64)) ? await readKev(whole) : await readEpss(whole)
}

const isCve = (text: string): boolean => /^CVE-\d{4}-\d{4,19}$/.test(text)
const isShare = (text: string): boolean => text !== '' && Number(text) >= 0 && Number(text) <= 1

const readEpss = async (body: AsyncIterable<Uint8Array>): Promise<Enrichment> => {
  const about = { version: '', published: '' }
  const rows: { cve: string; score: number; percentile: number }[] = []
  let columns: readonly string[] | undefined
  for await (const line of linesOf(body)) {
    const text = line.replace(/^\ufeff/, '').trim()
    if (columns === undefined && text.startsWith('#')) {
      about.version = /model_version:([^,\s]+)/.exec(text)?.[1]?.slice(0, 100) ?? ''
      about.published = /score_date:([^,\s]+)/.exec(text)?.[1]?.slice(0, 100) ?? ''
      continue
    }
    const cells = text.split(',')
    if (columns === undefined) {
      columns = cells
      if (!['cve', 'epss', 'percentile'].every((name) => cells.includes(name))) throw refused(NEITHER)
      continue
    }
    const cell = (name: string): string => cells[columns?.indexOf(name) ?? -1] ?? ''
    const [cve, score, percentile] = [cell('cve'), cell('epss'), cell('percentile')]
    if (!isCve(cve) || !isShare(score) || !isShare(percentile))
      throw refused(
        `row ${rows.length + 1} must be a CVE and two numbers from 0 to 1: ${JSON.stringify(text.slice(0, 100))}`,
      )
    rows.push({ cve, score: Number(score), percentile: Number(percentile) })
    demandFew(rows.length)
  }
  if (rows.length === 0) throw refused(columns === undefined ? NEITHER : 'it has no rows')
  return { kind: 'epss', ...about, rows }
}

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

const readKev = async (body: AsyncIterable<Uint8Array>): Promise<Enrichment> => {
  const about = { version: '', published: '' }
  const rows: { cve: string; added: string; due: string | null }[] = []
  for await (const part of jsonParts(body, 'catalogVersion', 'dateReleased', 'vulnerabilities.[]')) {
    if (part.kind === 'problem') throw refused(`line ${part.line} cannot be read: ${part.reason}`)
    if (part.at === 'catalogVersion') about.version = asText(part.value).slice(0, 100)
    else if (part.at === 'dateReleased') about.published = asText(part.value).slice(0, 100)
    else {
      const [cve, added, due] = ['cveID', 'dateAdded', 'dueDate'].map((name) => asText(at(part.value, name)))
      if (cve === undefined || !isCve(cve) || added === undefined || !isDay(added) || (due && !isDay(due)))
        throw refused(
          `entry ${rows.length + 1} must have cveID, dateAdded and dueDate: ${JSON.stringify(cve)}`,
        )
      rows.push({ cve, added, due: due || null })
      demandFew(rows.length)
    }
  }
  if (rows.length === 0) throw refused(NEITHER)
  return { kind: 'kev', ...about, rows }
}

const demandFew = (count: number): void => {
  if (count > MAX_CVES) throw new AppError('payload_too_large', `the file has more than ${MAX_CVES} CVEs`)
}
