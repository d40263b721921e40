import { lookup } from 'node:dns'
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

export interface SentRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
  /** Refuses the addresses of a host before a connection; undefined: all are allowed. */
  readonly refuse?: ((address: string) => string | undefined) | undefined
}

/** An address that a request must not reach. Another try would be refused as well. */
export class RefusedAddress extends Error {}

/**
 * Sends one request over its own connection, without following redirects. The addresses that are checked are those that
 * it connects to, so a name cannot change its addresses in between.
 */
export const sendRequest = async (
  url: URL,
  { method, headers, body, signal, refuse }: SentRequest,
): Promise<IncomingMessage> => {
  const host = url.hostname.replaceAll(/^\[|\]$/g, '')
  const check = (address: string): Error | undefined => {
    const reason = refuse?.(address)
    return reason === undefined ? undefined : new RefusedAddress(`${host} is ${reason}`)
  }
  const refused = isIP(host) === 0 ? undefined : check(host)
  if (refused !== undefined) throw refused
  const options: RequestOptions = {
    method,
    headers: {
      accept: '*/*',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'node',
      ...lowerCase(headers),
    },
    agent: false,
    signal,
    lookup: (name, lookupOptions, done) =>
      lookup(name, { ...lookupOptions, all: true }, (error, found) => {
        const problem = error ?? found.map(({ address }) => check(address)).find((one) => one !== undefined)
        const [first] = found ?? []
        if (problem) done(problem, [])
        else if (lookupOptions.all === true) done(null, found)
        else done(null, first?.address ?? '', first?.family)
      }),
  }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, resolve)
  request.on('error', reject)
  request.end(body)
  return await promise
}

/** The connection and the length of the body are not the author's. */
const OWN = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'upgrade'])

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]): [string, string] => [name.toLowerCase(), value])
      .filter(([name]) => !OWN.has(name)),
  )

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** The beginning of a body, decompressed; the connection is closed after `most` bytes. */
export const readBody = async (response: IncomingMessage, most: number): Promise<string> => {
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase()
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]?.() : undefined
  const chunks: Buffer[] = []
  let size = 0
  const source = decoder === undefined ? response : response.pipe(decoder)
  response.once('error', (error) => decoder?.emit('error', error))
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= most) break
    }
  } finally {
    response.destroy()
  }
  return Buffer.concat(chunks).subarray(0, most).toString('utf8')
}
