import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { AppError } from '@scanfarm/contracts'
import type { Express } from 'express'
import { VERSION } from '../version.ts'
import { limitConnections, type ConnectionLimits } from './address-limits.ts'
import { boundPipelines } from './bound-pipelines.ts'
import { errorBody } from './refusal.ts'

const HEADERS_TIMEOUT_MS = 15_000
const CHECK_TIMEOUTS_MS = 5_000
/** Long enough for an upload of 1 GiB over a slow connection. */
const REQUEST_TIMEOUT_MS = 30 * 60_000
const KEEP_ALIVE_MS = 65_000
const MAX_HEADER_BYTES = 32 * 1024

export interface HttpService extends AsyncDisposable {
  /** `http://address:port`, without a trailing slash. */
  readonly url: string
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly drainMs: number
  /** For the headers of a request. */
  readonly headersMs?: number
  /** Missing: unlimited. */
  readonly connections?: ConnectionLimits
}

/** Serves the app. Disposing refuses connections, gives requests `drainMs` to finish, then closes them. */
export async function listenHttp(
  app: Express,
  { host, port, drainMs, headersMs = HEADERS_TIMEOUT_MS, connections }: ListenOptions,
): Promise<HttpService> {
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(CHECK_TIMEOUTS_MS, headersMs),
      maxHeaderSize: MAX_HEADER_BYTES,
      noDelay: true,
    },
    boundPipelines(app),
  )
  server.on('clientError', (error, socket) => answerBroken(error, socket as Socket))
  if (connections !== undefined) limitConnections(server, connections)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') return reject(error)
    const message = `another program listens on ${host}:${port}: stop it, or choose another port (--port, http.port)`
    reject(new Error(message, { cause: error }))
  })
  server.listen(port, host, resolve)
  await promise
  const bound = server.address() as AddressInfo
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
  return {
    url: `http://${reachable(name)}:${bound.port}`,
    [Symbol.asyncDispose]: () => close(server, drainMs),
  }
}

/** Replaces a wildcard address with one that clients can connect to. */
const reachable = (name: string): string =>
  name === '0.0.0.0' ? '127.0.0.1' : name === '[::]' ? '[::1]' : name

/** Keep-alive connections that become idle during the drain are closed at this interval. */
const SWEEP_MS = 50

const close = async (server: Server, drainMs: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  const limit = setTimeout(() => server.closeAllConnections(), drainMs)
  await promise
  clearTimeout(limit)
  clearInterval(sweep)
}

const REFUSALS: Readonly<Record<string, { readonly status: string; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: 'the request line and headers together are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    message: 'the request did not arrive completely in time',
  },
}
const OTHER = { status: '400 Bad Request', message: 'the request is not valid HTTP/1.1' }

/** Time for the client to read the answer and close the connection. */
const LINGER_MS = 1_000

/** Answers requests that Node cannot parse with the usual error body, and closes the connection. */
const answerBroken = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (saidNothing(error, socket)) return closeUnused(socket)
  // The connection is gone, or already carries the headers of an answer.
  if (error.code === 'ECONNRESET' || !socket.writable || answering(socket)) return void socket.destroy(error)
  const { status, message } = REFUSALS[error.code ?? ''] ?? OTHER
  const requestId = randomUUID()
  const body = JSON.stringify(errorBody(new AppError('bad_request', message), requestId))
  const head = [
    `HTTP/1.1 ${status}`,
    `X-Request-Id: ${requestId}`,
    `Scanfarm-Version: ${VERSION}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  const limit = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(limit))
}

/** True for a connection that sent nothing in the time for headers. Browsers open some before they need them. */
const saidNothing = (error: NodeJS.ErrnoException, socket: Socket): boolean =>
  error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0

/**
 * Closes a connection that has sent nothing, without an answer. Its first request may have arrived while this process
 * was busy: it is read first, and its time begins then.
 */
const closeUnused = (socket: Socket): void => {
  setImmediate(() => {
    if (socket.bytesRead === 0) socket.destroy()
  })
}

const answering = (socket: Socket): boolean => {
  const { _httpMessage: message } = socket as Socket & { _httpMessage?: { headersSent?: boolean } | null }
  return message?.headersSent === true
}
