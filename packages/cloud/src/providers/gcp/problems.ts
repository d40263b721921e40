import { errorText } from '@scanfarm/platform'
import { CloudError, type CloudProblem } from '../../provider.ts'
import { problemOfStatus, retryAfterMs, unreachable } from '../calls.ts'

/** An answer of the cloud that is no success. */
export class Refusal extends CloudError {
  readonly status: number

  constructor(problem: CloudProblem, message: string, status: number, afterMs?: number) {
    super(problem, message, { ...(afterMs !== undefined && { retryAfterMs: afterMs }) })
    this.status = status
  }
}

/** Reasons of answers and codes of operations that say more than the status: a full quota comes as 403, a lack of machines as 503. */
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

/** `body` as the cloud sent it: JSON with `error.message` and `error.errors[].reason`, or the page of something in between. */
export function refusalOf(status: number, body: string, header: (name: string) => string | null): Refusal {
  const { message, reason } = wordsOf(body)
  return new Refusal(
    problemOfCode(reason, status),
    message || `the cloud answered ${status}`,
    status,
    retryAfterMs(header),
  )
}

/** The library wraps what was thrown inside of it. */
export function problemOf(error: unknown): CloudError {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof CloudError) return at
  return unreachable('Google Cloud', error)
}

export const isNotFound = (error: unknown): boolean => error instanceof Refusal && error.status === 404
export const isTaken = (error: unknown): boolean => error instanceof Refusal && error.status === 409

/** What went wrong before the cloud was asked: no credentials, or nobody who takes them. */
export function tokenProblemOf(error: unknown): CloudError {
  if (error instanceof CloudError) return error
  const status = field(error, 'status') ?? field(field(error, 'response'), 'status')
  const code = field(error, 'code')
  if (typeof status === 'number' && problemOfStatus(status) === 'unavailable')
    return unreachable('Google', error)
  // The codes of connections that failed: ECONNREFUSED, ENOTFOUND, ETIMEDOUT…; a missing file is ENOENT.
  if (status === undefined && typeof code === 'string' && /^E[A-Z]+$/.test(code) && code !== 'ENOENT')
    return unreachable('Google', error)
  return new CloudError('credentials', `the credentials for gcp are no good: ${errorText(error)}`, {
    cause: error,
  })
}

function wordsOf(body: string): { message: string; reason: string } {
  let answer: unknown
  try {
    answer = JSON.parse(body)
  } catch {
    return { message: '', reason: '' }
  }
  const error = field(answer, 'error')
  const errors = field(error, 'errors')
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  return { message: text(field(error, 'message')), reason: text(field(first, 'reason')) }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
