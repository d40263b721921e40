import { request as requestHttp, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { addressOf } from './address.ts'

/** From the first lookup to the end of the answer. */
const PATIENCE_MS = 10_000
/** Of an answer nothing is kept but its status; this much is read to let the connection end well. */
const MAX_ANSWER = 64 * 1024

/** Sends a body to a URL and resolves with the status of the answer. Redirects are answers like any other. */
export async function postTo(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  options: { allowPrivate: boolean; signal: AbortSignal },
): Promise<number> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(PATIENCE_MS)])
  const { address, family } = await addressOf(url.hostname, options.allowPrivate)
  const settings: RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
    agent: false,
    signal,
    // The address that was checked is the one that is connected to, whatever the name service says next.
    lookup: (_host, lookupOptions, done) =>
      lookupOptions.all === true ? done(null, [{ address, family }]) : done(null, address, family),
  }
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, settings, (response) => {
    let size = 0
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_ANSWER) response.destroy()
    })
    response.on('close', () => resolve(response.statusCode ?? 0))
    response.on('error', () => resolve(response.statusCode ?? 0))
  })
  request.on('error', reject)
  request.end(body)
  return await promise
}
