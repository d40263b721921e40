import { valueOr } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { CloudError, type CloudProblem } from '../provider.ts'

/** A response of a provider's API other than 2xx. */
export class ApiError extends CloudError {
  readonly status: number

  constructor(problem: CloudProblem, message: string, status: number, retryAfterMs?: number) {
    super(problem, message, { ...(retryAfterMs !== undefined && { retryAfterMs }) })
    this.status = status
  }
}

export const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof ApiError && error.status === status

/** Undefined for anything but JSON: gateways may respond with HTML. */
export function parsedJson(text: string): unknown {
  return valueOr<unknown>(() => JSON.parse(text), undefined)
}

export const isNotFound = (error: unknown): boolean => hasStatus(error, 404)

/** The meaning of an HTTP status. Providers refine it with their own error codes. */
export function problemOfStatus(status: number): CloudProblem {
  if (status === 401 || status === 403) return 'credentials'
  if (status === 408 || status === 429 || status >= 500) return 'unavailable'
  return 'refused'
}

/** For calls without a response: reset or refused connections, unknown hosts, malformed responses. */
export function unreachable(provider: string, error: unknown): CloudError {
  return new CloudError('unavailable', `${provider} cannot be reached: ${errorText(error)}`, { cause: error })
}

/**
 * The delay that the response asks for: `Retry-After` (seconds or a date) or else `RateLimit-Reset` (Unix time in seconds,
 * sent by DigitalOcean, Linode and Hetzner). Undefined when it has neither.
 */
export function retryAfterMs(
  header: (name: string) => string | null | undefined,
  nowMs: number = Date.now(),
): number | undefined {
  const after = header('retry-after')
  if (after && /^\d+$/.test(after)) return Number(after) * 1000
  const at = after ? Date.parse(after) : Number.NaN
  if (!Number.isNaN(at)) return Math.max(0, at - nowMs)
  const reset = header('ratelimit-reset') ?? header('x-ratelimit-reset')
  return reset && /^\d+$/.test(reset) ? Math.max(0, Number(reset) * 1000 - nowMs) : undefined
}

/** A property of an error whose type its library does not declare. */
export const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
