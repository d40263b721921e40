import type { RequestHandler } from 'express'

const PREFLIGHT_SECONDS = '600'

/** Only for the origins in the settings. Credentials are sent in a header, so cookies are never allowed. */
export const cors = (origins: readonly string[]): RequestHandler => {
  const any = origins.includes('*')
  return (request, response, next) => {
    const origin = request.headers.origin
    response.setHeader('Vary', 'Origin')
    if (origin === undefined || !(any || origins.includes(origin))) return next()
    response.setHeader('Access-Control-Allow-Origin', any ? '*' : origin)
    response.setHeader(
      'Access-Control-Expose-Headers',
      'X-Request-Id, Scanfarm-Version, Content-Disposition, Retry-After',
    )
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined)
      return next()
    response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
    response.setHeader(
      'Access-Control-Allow-Headers',
      'Authorization, Content-Type, Idempotency-Key, X-Request-Id, x-osm-api-key',
    )
    response.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS)
    response.statusCode = 204
    response.end()
  }
}
