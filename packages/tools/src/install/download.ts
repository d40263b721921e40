import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat, truncate } from 'node:fs/promises'
import { errorText, fileErrorText, retry } from '@scanfarm/platform'
import { ToolError } from '../errors.ts'
import type { Source, WebSource } from './source.ts'

export const MAX_ARCHIVE_BYTES = 512 * 1024 * 1024
const STALL_MS = 30_000
const ATTEMPTS = 4
const BACKOFF = { firstMs: 500, mostMs: 5_000, jitter: true }

/** `total` is undefined if the server does not say it. */
export type OnBytes = (received: number, total: number | undefined) => void

export interface DownloadOptions {
  readonly sha256: string
  readonly signal?: AbortSignal
  readonly onBytes?: OnBytes
  readonly stallMs?: number
}

/** Not worth another attempt. */
class Refused extends ToolError {}

export const sha256Of = async (file: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

const tooLarge = (name: string) =>
  new Refused(`${name} is larger than ${MAX_ARCHIVE_BYTES} bytes, which no archive of a tool is`)

const write = async (
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  onChunk: (received: number) => void,
): Promise<void> => {
  const handle = await open(file, 'a')
  try {
    let { size } = await handle.stat()
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > MAX_ARCHIVE_BYTES) throw tooLarge(name)
      await handle.writeFile(chunk)
      onChunk(size)
    }
  } finally {
    await handle.close()
  }
}

const refusal = (name: string, { status, statusText }: Response): ToolError => {
  const text = `${name}: HTTP ${status}${statusText === '' ? '' : ` ${statusText}`}`
  if (status >= 500 || status === 408 || status === 429) return new ToolError(text)
  if (status === 404 || status === 410) return new Refused(`${text}: the server does not have this file`)
  if (status === 401 || status === 403)
    return new Refused(`${text}: put the login into the address of the mirror: https://USER:PASSWORD@HOST/…`)
  return new Refused(text)
}

const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(() => undefined))?.size ?? 0

/** Receives what is missing of the file, or all of it if the server only sends whole files. */
const receive = async (
  { name, url, headers }: WebSource,
  file: string,
  { signal, onBytes, stallMs = STALL_MS }: DownloadOptions,
): Promise<void> => {
  const have = await sizeOf(file)
  const stall = new AbortController()
  const timer = setTimeout(() => stall.abort(new ToolError(`no bytes for ${stallMs / 1000} s`)), stallMs)
  try {
    const response = await fetch(url, {
      headers: {
        ...headers,
        'accept-encoding': 'identity',
        ...(have > 0 ? { range: `bytes=${have}-` } : {}),
      },
      signal: AbortSignal.any([stall.signal, ...(signal ? [signal] : [])]),
    })
    const continued =
      response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${have}-`)
    if (!continued) await truncate(file).catch(() => undefined)
    if (!response.ok || response.body === null) throw refusal(name, response)
    if (response.status === 206 && continued !== true)
      throw new ToolError(`${name}: not the bytes that were asked for`)
    const length = Number(response.headers.get('content-length') ?? Number.NaN)
    const total = Number.isNaN(length) ? undefined : length + (continued === true ? have : 0)
    if (total !== undefined && total > MAX_ARCHIVE_BYTES) throw tooLarge(name)
    await write(file, response.body, name, (received) => {
      timer.refresh()
      onBytes?.(received, total)
    })
  } finally {
    clearTimeout(timer)
    // Closes the connection of an answer that was not read to its end.
    stall.abort()
  }
}

const failed = async ({ name }: Source, file: string, error: unknown): Promise<ToolError> => {
  if (error instanceof Refused) return error
  const text = errorText(error)
  const detail = text.startsWith(name) ? text : `${name}: ${text}`
  return new ToolError(
    `${detail} (${await sizeOf(file)} bytes received in ${ATTEMPTS} attempts): try again, or use another mirror`,
  )
}

const copy = async (from: string, file: string, onBytes: OnBytes | undefined): Promise<void> => {
  try {
    const { size } = await stat(from)
    await write(file, createReadStream(from), from, (received) => onBytes?.(received, size))
  } catch (error) {
    if (error instanceof ToolError) throw error
    throw new ToolError(`${from} cannot be read: ${fileErrorText(error)}`, { cause: error })
  }
}

/** Downloads into `file`, which does not exist before, and checks its SHA-256. Continues after errors of the network. */
export const download = async (source: Source, file: string, options: DownloadOptions): Promise<void> => {
  const { sha256, signal, onBytes } = options
  if ('file' in source) await copy(source.file, file, onBytes)
  else
    await retry(() => receive(source, file, options), {
      backoff: BACKOFF,
      signal,
      shouldRetry: (error, attempt) => !(error instanceof Refused) && attempt < ATTEMPTS,
    }).catch(async (error: unknown) => {
      signal?.throwIfAborted()
      throw await failed(source, file, error)
    })
  const found = await sha256Of(file)
  if (found !== sha256)
    throw new ToolError(
      `${source.name} has the SHA-256 ${found} instead of ${sha256}: it was altered, cut, or is another version. Nothing was installed from it.`,
    )
}
