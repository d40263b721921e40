import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { gzip } from 'node:zlib'
import { VERSION } from '../version.ts'
import type { Answer, Headers } from './answer.ts'

/** Headers of every response. The API serves no scripts, so all is forbidden; a route may relax it. */
const STANDARD: Headers = {
  'Scanfarm-Version': VERSION,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
}

/** A client that reads nothing of its answer for this long is disconnected. */
const STALLED_MS = 60_000

const cutStalled = (response: ServerResponse): void => {
  response.setTimeout(STALLED_MS, () => {
    if (response.writableLength > 0) response.destroy()
  })
}

const JSON_TYPE = 'application/json; charset=utf-8'

const streams = new WeakSet<ServerResponse>()

/** A stream of events lasts as long as its client wants. */
export const isEventStream = (response: ServerResponse): boolean => streams.has(response)

/** `setHeader` is not used before, so that Node writes the headers at once. */
const head = (response: ServerResponse, requestId: string, status: number, headers: Headers): void => {
  cutStalled(response)
  // The headers of `writeHead` cannot be read from the response.
  if (String(headers['Content-Type']).startsWith('text/event-stream')) streams.add(response)
  response.writeHead(status, { 'X-Request-Id': requestId, ...STANDARD, ...headers })
}

export const sendText = (
  response: ServerResponse,
  requestId: string,
  status: number,
  body: string,
  headers: Headers,
): void => {
  const send = (bytes: string | Buffer, more: Headers = {}): void => {
    head(response, requestId, status, { ...headers, ...more, 'Content-Length': Buffer.byteLength(bytes) })
    response.end(bytes)
  }
  if (!takesGzip(response.req, body)) return send(body)
  gzip(body, { level: 1 }, (error, packed) =>
    error === null ? send(packed, { 'Content-Encoding': 'gzip' }) : send(body),
  )
}

/** Lists shrink to a tenth. Only of requests that change nothing: their answers hold no new secret. */
const takesGzip = ({ method, headers }: IncomingMessage, body: string): boolean =>
  method === 'GET' &&
  body.length >= GZIP_FROM &&
  String(headers['accept-encoding'] ?? '')
    .split(',')
    .some((one) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)[\d.]+\s*)?$/i.test(one))

/** Characters. Shorter answers fit in a few packets. */
const GZIP_FROM = 2_048

export const sendJson = (
  response: ServerResponse,
  requestId: string,
  status: number,
  value: unknown,
  headers: Headers = {},
): void =>
  sendText(response, requestId, status, JSON.stringify(value), { 'Content-Type': JSON_TYPE, ...headers })

export const sendAnswer = (response: ServerResponse, requestId: string, answer: Answer): void => {
  const { status, form, body, headers } = answer
  if (form === 'json') return sendJson(response, requestId, status, body, headers)
  if (form === 'text') return sendText(response, requestId, status, String(body), headers)
  head(response, requestId, status, headers)
  if (form === 'none' || response.req.method === 'HEAD') {
    if (form === 'bytes') (body as Readable).destroy()
    response.end()
    return
  }
  // If the source fails, the connection is closed: the client receives fewer bytes than Content-Length states.
  pipeline(body as Readable, response, () => undefined)
}
