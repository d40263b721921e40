import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Express } from 'express'
import { answerBroken } from './http/broken-request.ts'
import { limitConnections, type ConnectionLimits } from './http/connection-limit.ts'

const HEADERS_TIMEOUT_MS = 15_000
const CHECK_TIMEOUTS_MS = 5_000
/** An upload of 256 MiB over a slow line must fit. */
const REQUEST_TIMEOUT_MS = 30 * 60_000
const KEEP_ALIVE_MS = 65_000
const MAX_HEADER_BYTES = 32 * 1024

export interface HttpService extends AsyncDisposable {
  /** `http://address:port`, without a slash at the end. */
  readonly url: string
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly drainMs: number
  /** Missing: no bounds. */
  readonly connections?: ConnectionLimits
}

/** Serves the app. Disposing takes no new connection, lets requests in flight end within `drainMs`, then cuts them. */
export async function listenHttp(
  app: Express,
  { host, port, drainMs, connections }: ListenOptions,
): Promise<HttpService> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_TIMEOUTS_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      noDelay: true,
    },
    app,
  )
  server.on('clientError', answerBroken)
  if (connections !== undefined) limitConnections(server, connections)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, resolve)
  await promise
  const bound = server.address() as AddressInfo
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
  return {
    url: `http://${reachable(name)}:${bound.port}`,
    [Symbol.asyncDispose]: () => close(server, drainMs),
  }
}

/** "Everywhere" is where to listen, not where to connect to. */
const reachable = (name: string): string =>
  name === '0.0.0.0' ? '127.0.0.1' : name === '[::]' ? '[::1]' : name

/** A connection that answered its last request after the close began would stay until its client goes. */
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
