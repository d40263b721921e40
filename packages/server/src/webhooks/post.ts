import { lookup } from 'node:dns/promises'
import { request as requestHttp, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { isPublic } from '@scanfarm/functions'

/**
 * The address to connect to. Rejects if any address of the host is private, so that DNS answers cannot be used to reach
 * internal services by retrying.
 */
export async function addressOf(
  host: string,
  allowPrivate: boolean,
): Promise<{ address: string; family: number }> {
  const name = host.replace(/^\[|\]$/g, '')
  const found = isIP(name) === 0 ? await lookup(name, { all: true }) : [{ address: name, family: isIP(name) }]
  const hidden = allowPrivate ? undefined : found.find(({ address }) => !isPublic(address))
  if (hidden !== undefined)
    throw new Error(
      `${host} ${name === hidden.address ? 'is a private address' : `has the private address ${hidden.address}`}; set webhooks.allow_private to permit that`,
    )
  const [first] = found
  if (first === undefined) throw new Error(`the host ${host} has no address`)
  return first
}

/** From the DNS lookup to the end of the answer. */
const PATIENCE_MS = 10_000
/** This much of the body is read so that the connection can end cleanly. */
const MAX_ANSWER = 64 * 1024
/** This much of it is kept. */
const KEPT_BYTES = 1_024

export interface PostAnswer {
  readonly status: number
  /** The beginning of the body. */
  readonly text: string
  /** Milliseconds that the endpoint asks to wait, from `Retry-After`; undefined: it does not ask. */
  readonly retryAfterMs: number | undefined
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
export const retryAfterMs = (header: string | undefined, now: number): number | undefined => {
  if (header === undefined) return undefined
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

/** Sends a body to a URL and returns the answer. Redirects are not followed. */
export async function postTo(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  options: { allowPrivate: boolean; signal?: AbortSignal },
): Promise<PostAnswer> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  const signal = options.signal === undefined ? patience : AbortSignal.any([options.signal, patience])
  const { address, family } = await addressOf(url.hostname, options.allowPrivate)
  const settings: RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
    agent: false,
    signal,
    // Connect to the address that was checked, whatever DNS answers now.
    lookup: (_host, lookupOptions, done) =>
      lookupOptions.all === true ? done(null, [{ address, family }]) : done(null, address, family),
  }
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>()
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, settings, (response) => {
    let size = 0
    const kept: Buffer[] = []
    const end = (): void => {
      const text = Buffer.concat(kept).subarray(0, KEPT_BYTES).toString()
      const asked = retryAfterMs(response.headers['retry-after'], Date.now())
      resolve({ status: response.statusCode ?? 0, text, retryAfterMs: asked })
    }
    response.on('data', (chunk: Buffer) => {
      if (size < KEPT_BYTES) kept.push(chunk)
      size += chunk.length
      if (size > MAX_ANSWER) response.destroy()
    })
    response.on('close', end)
    response.on('error', end)
  })
  request.on('error', reject)
  request.end(body)
  return await promise
}
