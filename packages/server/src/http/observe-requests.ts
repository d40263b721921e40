import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Counter, Histogram, type Logger, type Registry } from '@scanfarm/platform'
import type { RequestHandler } from 'express'
import { isEventStream } from './send.ts'

const ACCEPTED = /^[A-Za-z0-9._:-]{1,128}$/

const ids = new WeakMap<IncomingMessage, string>()

/** The `X-Request-Id` of the client if it is safe to log, otherwise a new id; constant for the whole request. */
export const requestIdOf = (request: IncomingMessage): string => {
  const known = ids.get(request)
  if (known !== undefined) return known
  const given = request.headers['x-request-id']
  const id = typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID()
  ids.set(request, id)
  return id
}

/** The path of a file link contains a key. */
export const shownPath = (path: string): string => path.replace(/\/ws\/[^/]+/, '/ws/***')

/** Logs each request. Too expensive for a busy server, so it is only installed at log level `debug`. */
export const logRequests =
  (log: Logger): RequestHandler =>
  (request, response, next) => {
    const started = performance.now()
    response.once('close', () => {
      log.debug('request handled', {
        request_id: requestIdOf(request),
        method: request.method,
        path: shownPath(request.originalUrl.split('?')[0] ?? ''),
        status: response.statusCode,
        ms: Math.round(performance.now() - started),
        ip: request.ip,
      })
    })
    next()
  }

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Counts and times requests. The label is the pattern of the route, not the path, to keep the number of labels low. */
export const countRequests = (registry: Registry): RequestHandler => {
  const total = new Counter({
    name: 'scanfarm_http_requests_total',
    help: 'HTTP requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  const seconds = new Histogram({
    name: 'scanfarm_http_request_seconds',
    help: 'Time from the request headers to the end of the answer, by method and route; without event streams, which last as long as their client wants',
    labelNames: ['method', 'route'],
    buckets: BUCKETS,
    registers: [registry],
  })
  return (request, response, next) => {
    const started = performance.now()
    response.once('close', () => {
      const route = (request.route as { path?: string } | undefined)?.path ?? 'none'
      total.inc({ method: request.method, route, status: response.statusCode })
      if (isEventStream(response)) return
      seconds.observe({ method: request.method, route }, (performance.now() - started) / 1000)
    })
    next()
  }
}
