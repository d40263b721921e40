import { errorText } from '@scanfarm/platform'
import type { CloudError, CloudProblem } from '../../provider.ts'
import { ApiError, hasStatus, problemOfStatus, property, retryAfterMs, unreachable } from '../errors.ts'

/** Azure's error codes that are more precise than the status: a lack of capacity and an exceeded quota are both 409. */
const PROBLEMS: Readonly<Record<string, CloudProblem>> = {
  AllocationFailed: 'capacity',
  OverconstrainedAllocationRequest: 'capacity',
  OverconstrainedZonalAllocationRequest: 'capacity',
  SkuNotAvailable: 'capacity',
  ZonalAllocationFailed: 'capacity',
  RequestDisallowedByPolicy: 'refused',
  AnotherOperationInProgress: 'unavailable',
  RetryableError: 'unavailable',
  InvalidSubscriptionId: 'credentials',
  SubscriptionNotFound: 'credentials',
}

/** The library's errors contain the whole request with its credentials: only messages and numbers are copied. */
export function problemOf(error: unknown): CloudError {
  const status = property(error, 'statusCode')
  if (typeof status !== 'number') return unreachable('Azure', new Error(errorText(error)))
  const code = property(error, 'code')
  const known = typeof code === 'string' ? PROBLEMS[code] : undefined
  const message = `${typeof code === 'string' ? `${code}: ` : ''}${errorText(error)}`
  return new ApiError(known ?? problemOfStatus(status), message, status, afterOf(error))
}

function afterOf(error: unknown): number | undefined {
  const headers = property(property(error, 'response'), 'headers')
  const get = property(headers, 'get')
  if (typeof get !== 'function') return undefined
  return retryAfterMs((name) => {
    const value: unknown = Reflect.apply(get, headers, [name])
    return typeof value === 'string' ? value : undefined
  })
}

/** The name exists, and `ifNoneMatch` asked for a new machine. */
export const isTaken = (error: unknown): boolean => hasStatus(error, 412)
