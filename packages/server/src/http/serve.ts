import { AppError } from '@scanfarm/contracts'
import type { Request, RequestHandler, Response } from 'express'
import { GUEST } from '../access/authenticator.ts'
import type { ServerContext } from '../context.ts'
import { addressGroup } from './address-limits.ts'
import { Answer } from './answer.ts'
import type { BodyAccount, BodyBudgets } from './body/body-account.ts'
import { readBody, readJson } from './body/json-body.ts'
import { requestIdOf } from './observe-requests.ts'
import { isRecorded, recordChange } from './record-change.ts'
import { checkRefusal, responseCheck } from './response-check.ts'
import type { Exchange, Route } from './route.ts'
import { sendAnswer, sendJson } from './send.ts'

/** Maximum size of a JSON body unless the route sets another. */
const JSON_BYTES = 1024 * 1024

/** Converts a route to an Express handler: authenticate, validate, handle, send. */
export function serve(route: Route, context: ServerContext, bodies: BodyBudgets): RequestHandler {
  const { spec } = route
  const handle = route.prepare()
  const firstStatus = Number(Object.keys(spec.responses)[0] ?? 200)
  const check = context.checkResponses ? responseCheck(spec) : undefined
  const records = isRecorded(spec)
  const needsBody = spec.body !== undefined
  const role = spec.role
  const maxBytes = spec.bodyBytes ?? JSON_BYTES
  const answer: RequestHandler = async (request, response) => {
    refuseNul(request.originalUrl)
    const caller = role === 'public' ? GUEST : await context.access.authenticate(request, role)
    using account = role === 'public' ? bodies.ofAddress(addressGroup(request.ip ?? '')) : bodies.ofCaller()
    const body = needsBody ? await readJson(request, maxBytes, account) : undefined
    const result = await handle(context, {
      params: request.params,
      query: request.query,
      body,
      caller,
      http: exchange(request, response, account),
    })
    if (records)
      await recordChange(
        context,
        spec,
        request,
        caller,
        result instanceof Answer ? result.status : firstStatus,
      )
    const requestId = requestIdOf(request)
    check?.(result instanceof Answer ? result : new Answer(firstStatus, 'json', result))
    if (role !== 'public' && result instanceof Answer && result.form === 'bytes')
      context.access.watch(request, caller, response)
    if (result instanceof Answer) sendAnswer(response, requestId, result)
    else sendJson(response, requestId, firstStatus, result)
  }
  if (check === undefined) return answer
  return async (request, response, next) => {
    try {
      await answer(request, response, next)
    } catch (error) {
      checkRefusal(spec, error)
      throw error
    }
  }
}

/** Postgres cannot store NUL in text. */
const refuseNul = (url: string): void => {
  if (url.includes('%00')) throw new AppError('bad_request', 'the path and query must not contain NUL (%00)')
}

const exchange = (request: Request, response: Response, account: BodyAccount): Exchange => ({
  root: request.baseUrl,
  requestId: requestIdOf(request),
  ip: request.ip ?? '',
  secure: request.secure,
  host: request.host,
  origin: `${request.protocol}://${request.host}`,
  headers: request.headers,
  readBody: (maxBytes) => readBody(request, maxBytes, account),
  stream: request,
  signal: () => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    return gone.signal
  },
})
