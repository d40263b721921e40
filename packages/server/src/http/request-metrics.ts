import type { RequestHandler } from 'express'
import { Counter, Histogram, type Registry } from '@scanfarm/platform'

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Counts and times requests; the label is the route's pattern, never the path, so that labels stay few. */
export const countRequests = (registry: Registry): RequestHandler => {
  const total = new Counter({
    name: 'scanfarm_http_requests_total',
    help: 'HTTP requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  const seconds = new Histogram({
    name: 'scanfarm_http_request_seconds',
    help: 'Time from the head of a request to the end of its answer',
    labelNames: ['method'],
    buckets: BUCKETS,
    registers: [registry],
  })
  return (request, response, next) => {
    const started = performance.now()
    response.once('close', () => {
      const route = (request.route as { path?: string } | undefined)?.path ?? 'none'
      total.inc({ method: request.method, route, status: response.statusCode })
      seconds.observe({ method: request.method }, (performance.now() - started) / 1000)
    })
    next()
  }
}
