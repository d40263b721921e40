import type { components, paths } from '@scanfarm/client'
import createCore from 'openapi-fetch'

type ErrorBody = components['schemas']['ErrorBody']
export type FieldError = ErrorBody['details'][number]
export type Schemas = components['schemas']

/** A refused or unanswered call. `status` is 0 without an answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly details: readonly FieldError[]
  readonly requestId: string

  constructor(status: number, body: Partial<ErrorBody>) {
    super(body.message ?? `The server answered with status ${status}.`)
    this.status = status
    this.code = body.code ?? 'unreachable'
    this.details = body.details ?? []
    this.requestId = body.request_id ?? ''
  }
}

const UNREACHABLE = { code: 'unreachable', message: 'The server cannot be reached.' }

const bodyOf = async (response: Response): Promise<Partial<ErrorBody>> => {
  const text = await response.text()
  try {
    return JSON.parse(text) as Partial<ErrorBody>
  } catch {
    return { code: `http_${response.status}`, message: text.slice(0, 500) || response.statusText }
  }
}

/** Proves to the server that a request which changes something comes from this console. */
export const CONSOLE_HEADER = { 'X-Scanfarm-Console': '1' }

/**
 * The API, typed by its OpenAPI document. The session cookie is the proof of identity. Every refusal is thrown as an
 * `ApiError`, so `data` of an answer is always there.
 */
export const api = createCore<paths>({ baseUrl: '/api', headers: CONSOLE_HEADER })
api.use({
  async onResponse({ response }) {
    if (!response.ok) throw new ApiError(response.status, await bodyOf(response))
  },
  onError({ error }) {
    return error instanceof ApiError ? error : new ApiError(0, UNREACHABLE)
  },
})

/** The body of a successful answer: `const page = await answer(api.GET('/runs', {}))`. */
export const answer = async <T>(call: Promise<{ data?: T }>): Promise<NonNullable<T>> => {
  const { data } = await call
  if (data === undefined || data === null) throw new ApiError(0, { message: 'The server sent no answer.' })
  return data
}

/** Calls a route that the OpenAPI document does not describe. */
export const callRoute = async (method: string, path: string, body?: unknown): Promise<unknown> => {
  const response = await fetch(`/api${path}`, {
    method,
    headers: { ...CONSOLE_HEADER, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  }).catch(() => {
    throw new ApiError(0, UNREACHABLE)
  })
  if (!response.ok) throw new ApiError(response.status, await bodyOf(response))
  return response.status === 204 ? undefined : await response.json()
}
