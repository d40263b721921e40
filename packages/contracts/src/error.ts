/** All error codes with their HTTP statuses. Codes are stable; messages are for people. */
export const ERROR_STATUS = {
  bad_request: 400,
  invalid_input: 400,
  invalid_json: 400,
  invalid_target: 400,
  invalid_workflow: 400,
  target_refused: 400,
  master_required: 400,
  local_disabled: 400,
  cloud_disabled: 400,
  cloud_credentials: 400,
  cloud_limit: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  workflow_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  wrong_state: 409,
  missing_tools: 409,
  conflict: 409,
  idempotency_conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  too_many_requests: 429,
  internal: 500,
  not_implemented: 501,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** An invalid field. `path` is a JSON pointer into the body, or the name of a query parameter with a leading slash. */
export interface FieldError {
  path: string
  message: string
}

/**
 * An error of the caller, or a request that cannot be served now. The outcomes of runs are values, not errors; any
 * other exception is a bug.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly details: readonly FieldError[]
  /** Seconds; sent as `Retry-After` with 429 and 503. */
  readonly retryAfter: number | undefined
  /** Sent in `WWW-Authenticate` with 401: the request has a token, and it is not valid. */
  readonly challenge: 'invalid_token' | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: readonly FieldError[]
      retryAfter?: number
      challenge?: 'invalid_token' | undefined
      cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details ?? []
    this.retryAfter = options.retryAfter
    this.challenge = options.challenge
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }
}

/** What `make` returns, or `otherwise` if it throws. */
export const valueOr = <T>(make: () => T, otherwise: T): T => {
  try {
    return make()
  } catch {
    return otherwise
  }
}
