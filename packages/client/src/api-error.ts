import type { components } from './schema.ts'

export type FieldError = components['schemas']['ErrorBody']['details'][number]

/** Codes of failures without an answer of the API; all other codes are those of the API. */
export type FailureCode =
  /** No answer: the server cannot be reached, or the connection was lost. */
  | 'unreachable'
  /** No answer within the time limit. */
  | 'timeout'
  /** The answer is not one of this API, for example a page of a proxy. */
  | 'invalid_answer'

export interface ApiErrorFacts {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly details?: readonly FieldError[]
  readonly requestId?: string
  readonly retryAfter?: number
  readonly method: string
  readonly url: string
  readonly cause?: unknown
}

/** The only error of this client, except for the reason of an abort, which is thrown unchanged. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The HTTP status; 0 without an answer. */
  readonly status: number
  /** Stable, for programs: a code of the API such as `not_found`, or a `FailureCode`. */
  readonly code: string
  /** The invalid fields, if the API names them. */
  readonly details: readonly FieldError[]
  /** The log of the server contains this id; "" without an answer of the API. */
  readonly requestId: string
  /** Seconds after which the server can be asked again. */
  readonly retryAfter: number | undefined
  readonly method: string
  readonly url: string

  constructor({ message, cause, ...facts }: ApiErrorFacts) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = facts.status
    this.code = facts.code
    this.details = facts.details ?? []
    this.requestId = facts.requestId ?? ''
    this.retryAfter = facts.retryAfter
    this.method = facts.method
    this.url = facts.url
  }

  /** Whether the same request may succeed later: no answer, too many requests, or a server that is not ready. */
  get isTemporary(): boolean {
    return this.code === 'unreachable' || this.code === 'timeout' || TEMPORARY.has(this.status)
  }
}

const TEMPORARY = new Set([429, 502, 503, 504])
/** Characters of an answer that is not JSON, for the message. */
const SHOWN = 500

/** `Retry-After` in seconds: a number, or an HTTP date. */
const retryAfterOf = (header: string | null): number | undefined => {
  if (header === null || header.trim() === '') return undefined
  const seconds = Number(header)
  const wait = Number.isFinite(seconds) ? seconds : (Date.parse(header) - Date.now()) / 1_000
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const textOf = (value: unknown, other: string): string =>
  typeof value === 'string' && value !== '' ? value : other

/** The error of an answer. `body` is parsed JSON, or the text of something else. */
export const refusalOf = (method: string, { status, statusText, url, headers }: Response, body: unknown) => {
  const fields = isObject(body) ? body : {}
  const text = typeof body === 'string' ? body.trim().slice(0, SHOWN) : ''
  return new ApiError({
    status,
    method,
    url,
    code: textOf(fields['code'], `http_${status}`),
    message: textOf(fields['message'], text || statusText || `status ${status}`),
    details: Array.isArray(fields['details']) ? (fields['details'] as FieldError[]) : [],
    requestId: textOf(fields['request_id'], headers.get('x-request-id') ?? ''),
    retryAfter: retryAfterOf(headers.get('retry-after')),
  })
}

/** Each browser has other words for a connection that failed, and hides the reason. */
const BROWSER_FAILURE = /^(?:Failed to fetch|Load failed|NetworkError when attempting to fetch resource\.?)$/

/** What `fetch` hides behind "fetch failed". */
export const failureText = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (BROWSER_FAILURE.test(error.message)) return 'the server does not answer'
  if (cause instanceof AggregateError && cause.errors.length > 0) return failureText(cause.errors[0])
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message
}
