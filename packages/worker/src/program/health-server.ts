import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Registry } from '@scanfarm/platform'

export interface HealthOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly metrics: Registry
  /** Why this worker cannot execute runs now, or `""`. */
  unready(): string
}

export interface HealthServer extends AsyncDisposable {
  /** `http://address:port` */
  readonly url: string
}

/** Probes are small and quick; longer requests are aborted. */
const TIMEOUTS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
}
const MAX_CONNECTIONS = 100

/** `/health`: the process is alive. `/health/ready`: it can execute runs. `/metrics`: for Prometheus. */
export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
  const server = createServer(TIMEOUTS, (request, response) => {
    answer(options, request, response).catch((error: unknown) => response.destroy(asError(error)))
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen(options.port, options.host)
  await once(server, 'listening')
  return {
    url: urlOf(server),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const answer = async (
  options: HealthOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const path = new URL(request.url ?? '/', 'http://worker').pathname
  const { metrics } = options
  if (request.method !== 'GET') return json(response, 405, { error: true, message: 'only GET is supported' })
  switch (path) {
    case '/health':
      return json(response, 200, { status: 'ok' })
    case '/health/ready': {
      const reason = options.unready()
      return json(response, reason === '' ? 200 : 503, {
        status: reason === '' ? 'ready' : 'unready',
        reason,
      })
    }
    case '/metrics':
      response.writeHead(200, { 'content-type': metrics.contentType })
      response.end(await metrics.metrics())
      return
    default:
      json(response, 404, { error: true, message: 'not found: use /health, /health/ready or /metrics' })
  }
}

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

const asError = (error: unknown): Error => (Error.isError(error) ? error : new Error(String(error)))

const urlOf = (server: Server): string => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the health server has no address')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
