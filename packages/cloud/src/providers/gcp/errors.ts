import { errorText } from '@scanfarm/platform'
import { CloudError, type CloudProblem } from '../../provider.ts'
import {
  ApiError,
  hasStatus,
  problemOfStatus,
  property,
  retryAfterMs,
  textOf,
  unreachable,
} from '../errors.ts'

/** Error reasons and operation codes that are more precise than the status: an exceeded quota is a 403, a lack of capacity a 503. */
const PROBLEMS: Readonly<Record<string, CloudProblem>> = {
  quotaExceeded: 'refused',
  QUOTA_EXCEEDED: 'refused',
  limitExceeded: 'refused',
  LIMIT_EXCEEDED: 'refused',
  rateLimitExceeded: 'unavailable',
  userRateLimitExceeded: 'unavailable',
  RATE_LIMIT_EXCEEDED: 'unavailable',
  stockout: 'capacity',
  resourcePoolExhausted: 'capacity',
  RESOURCE_POOL_EXHAUSTED: 'capacity',
  ZONE_RESOURCE_POOL_EXHAUSTED: 'capacity',
  ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: 'capacity',
  PERMISSIONS_ERROR: 'credentials',
  INTERNAL_ERROR: 'unavailable',
}

export const problemOfCode = (code: string, status: number): CloudProblem =>
  PROBLEMS[code] ?? problemOfStatus(status)

/** `body`: JSON with `error.message` and `error.errors[].reason`, or HTML of a gateway. */
export function responseError(
  status: number,
  body: string,
  header: (name: string) => string | null,
): ApiError {
  const { message, reason } = parseError(body)
  return new ApiError(
    problemOfCode(reason, status),
    message || `gcp answers ${status}`,
    status,
    retryAfterMs(header),
  )
}

/** The library wraps errors that are thrown within it. */
export function problemOf(error: unknown): CloudError {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof CloudError) return at
  return unreachable('Google Cloud', error)
}

export const isTaken = (error: unknown): boolean => hasStatus(error, 409)

/** For errors before the call itself: no credentials, or the token server does not respond. */
export function tokenProblemOf(error: unknown): CloudError {
  if (error instanceof CloudError) return error
  const status = property(error, 'status') ?? property(property(error, 'response'), 'status')
  const code = property(error, 'code')
  if (typeof status === 'number' && problemOfStatus(status) === 'unavailable')
    return unreachable('Google', error)
  // Codes of failed connections: ECONNREFUSED, ENOTFOUND, ETIMEDOUT…; a missing file is ENOENT.
  if (status === undefined && typeof code === 'string' && /^E[A-Z]+$/.test(code) && code !== 'ENOENT')
    return unreachable('Google', error)
  return new CloudError('credentials', `the credentials for gcp are not valid: ${errorText(error)}`, {
    cause: error,
  })
}

function parseError(body: string): { message: string; reason: string } {
  let answer: unknown
  try {
    answer = JSON.parse(body)
  } catch {
    return { message: '', reason: '' }
  }
  const error = property(answer, 'error')
  const errors = property(error, 'errors')
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  return {
    message: textOf(property(error, 'message')) ?? '',
    reason: textOf(property(first, 'reason')) ?? '',
  }
}
