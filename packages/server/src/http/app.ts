import { AppError } from '@scanfarm/contracts'
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Router,
} from 'express'
import { opensPage, serveConsole } from '../console/serve-console.ts'
import type { ServerContext } from '../context.ts'
import type { ConnectionLimits } from './address-limits.ts'
import { BodyBudgets } from './body/body-account.ts'
import { BodyWatch } from './body/body-watch.ts'
import { cors } from './cors.ts'
import { countRequests, logRequests, requestIdOf, shownPath } from './observe-requests.ts'
import { errorBody, errorHeaders, refusalOf } from './refusal.ts'
import type { Route } from './route.ts'
import { sendJson, sendText } from './send.ts'
import { serve } from './serve.ts'

/** The same routes are served below both roots, so that clients of Osmedeus only change the base URL. */
export const API_ROOTS = ['/api', '/osm/api'] as const

/** Every body may take this long; after that it must have arrived at the minimum rate. */
const BODY_GRACE_MS = 30_000
const BODY_BYTES_PER_SECOND = 4 * 1024

export function createApp(context: ServerContext, routes: readonly Route[]): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.set('case sensitive routing', true)
  if (context.config.http.trustProxy.length > 0) app.set('trust proxy', [...context.config.http.trustProxy])
  const bodies = new BodyWatch({
    idleMs: context.limits.bodyIdleMs,
    graceMs: BODY_GRACE_MS,
    bytesPerSecond: BODY_BYTES_PER_SECOND,
  })
  app.use((request, response, next) => {
    bodies.watch(request, response)
    next()
  })
  app.use(countRequests(context.metrics))
  if (context.config.log.level === 'debug') app.use(logRequests(context.log))
  if (context.config.http.corsOrigins.length > 0) app.use(cors(context.config.http.corsOrigins))
  const budgets = new BodyBudgets()
  const api = routerOf(context, routes, budgets)
  for (const root of API_ROOTS) app.use(root, api)
  const isPage = (request: Request): boolean =>
    opensPage(request.method, request.path, request.headers.accept)
  app.use(
    routerOf(
      context,
      routes.filter(({ spec }) => spec.bare),
      budgets,
      isPage,
    ),
  )
  app.use(serveConsole(context.webConsole))
  app.use(unknownPath)
  app.use(refuse(context))
  return app
}

/** Simultaneous connections of a server, and of one address. */
const CONNECTIONS = 2_000
const CONNECTIONS_PER_ADDRESS = 500

/** Trusted proxies are exempt, because they carry many clients. */
export const connectionLimits = (app: Express): ConnectionLimits => {
  const trusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean
  return {
    total: CONNECTIONS,
    perAddress: CONNECTIONS_PER_ADDRESS,
    isProxy: (address) => trusted(address, 0),
  }
}

const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** `isElsewhere`: requests that continue if a path has no route for their method. */
const routerOf = (
  context: ServerContext,
  routes: readonly Route[],
  budgets: BodyBudgets,
  isElsewhere?: (request: Request) => boolean,
): Router => {
  // Strict: a path that ends with an empty id is not the list.
  const router = express.Router({ caseSensitive: true, strict: true })
  const byPath = Map.groupBy(
    routes.flatMap((route) =>
      [route.spec.path, ...(route.spec.aliases ?? [])].map((path) => ({ route, path: expressPath(path) })),
    ),
    ({ path }) => path,
  )
  for (const [path, group] of byPath) {
    const routed = router.route(path)
    for (const { route } of group) routed[route.spec.method](serve(route, context, budgets))
  }
  // Registered last, so that a path segment which is a route for one method can be an id for another.
  const patterns = [...byPath].map(([path, group]) => ({
    pattern: patternOf(path),
    methods: group.map(({ route }) => route.spec.method.toUpperCase()),
  }))
  /** The methods of all routes that match, because `/runs/cancel` is also a `/runs/{id}`. */
  const methodsOf = (path: string): string[] =>
    patterns.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : []))
  for (const path of byPath.keys()) router.all(path, otherMethod(methodsOf, isElsewhere))
  return router
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', String.raw`\.`).replaceAll(/:\w+/g, '[^/]+')}$`)

const otherMethod =
  (methodsOf: (path: string) => string[], isElsewhere?: (request: Request) => boolean): RequestHandler =>
  (request, response, next) => {
    if (isElsewhere?.(request) === true) return next()
    const methods = methodsOf(request.path)
    const allow = [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])]
      .sort()
      .join(', ')
    if (request.method === 'OPTIONS')
      return sendText(response, requestIdOf(request), 204, '', { Allow: allow })
    const refusal = new AppError(
      'method_not_allowed',
      `${request.method} is not allowed here; allowed methods: ${allow}`,
    )
    sendJson(response, requestIdOf(request), 405, errorBody(refusal, requestIdOf(request)), { Allow: allow })
  }

const unknownPath: RequestHandler = (request) => {
  throw new AppError('not_found', `there is no route ${request.method} ${request.path}`)
}

/** How much of an unread body is read, so that the client can read the answer. Then the connection is closed. */
const DRAIN_BYTES = 16 * 1024 * 1024
const DRAIN_MS = 5_000

const refuse =
  ({ log }: ServerContext): ErrorRequestHandler =>
  (error: unknown, request, response, _next) => {
    const requestId = requestIdOf(request)
    const refusal = refusalOf(error)
    if (refusal.status >= 500)
      log[refusal.code === 'internal' ? 'error' : 'warn']('a request failed', {
        request_id: requestId,
        method: request.method,
        path: shownPath(request.path),
        error,
      })
    if (response.headersSent) {
      response.destroy()
      return
    }
    const unread = !request.complete && !request.closed
    // Without "Connection: close", for which Node closes the connection at once: a client that is still sending would get
    // an error of its socket instead of this answer.
    sendJson(response, requestId, refusal.status, errorBody(refusal, requestId), errorHeaders(refusal))
    if (unread) drain(request)
  }

/** One chunk for each turn of the event loop: otherwise Node reads 2 MiB of each connection before it serves another. */
const drain = (request: Parameters<RequestHandler>[0]): void => {
  let left = DRAIN_BYTES
  const limit = setTimeout(() => request.destroy(), DRAIN_MS).unref()
  request.on('close', () => clearTimeout(limit))
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) return void request.destroy()
    request.pause()
    setImmediate(() => request.resume())
  })
  request.resume()
}
