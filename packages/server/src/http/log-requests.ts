import type { RequestHandler } from 'express'
import type { Logger } from '@scanfarm/platform'
import { requestIdOf } from './request-id.ts'

/** The path of a link to files has a key in it. */
export const shownPath = (path: string): string => path.replace(/\/ws\/[^/]+/, '/ws/***')

/** A line for each request; too dear for a busy server, so it is only put in at the level `debug`. */
export const logRequests =
  (log: Logger): RequestHandler =>
  (request, response, next) => {
    const started = performance.now()
    response.once('close', () => {
      log.debug('a request was answered', {
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
