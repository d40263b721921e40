import { errorText } from '@scanfarm/platform'
import { CloudError, type CloudProblem } from '../../provider.ts'
import { problemOfStatus, retryAfterMs, unreachable } from '../calls.ts'
import { property } from '../failed-answer.ts'

/** Azure's codes where they say more than the status: a lack of machines and a full quota both come as 409. */
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
/** An answer of the cloud that is no success. */
export class Refusal extends CloudError {
  readonly status: number

  constructor(problem: CloudProblem, message: string, status: number, afterMs: number | undefined) {
    super(problem, message, { ...(afterMs !== undefined && { retryAfterMs: afterMs }) })
    this.status = status
  }
}

/** The library's errors hold the whole request, credentials included: nothing of them is kept but words and figures. */
export function problemOf(error: unknown): CloudError {
  const status = property(error, 'statusCode')
  if (typeof status !== 'number') return unreachable('Azure', new Error(errorText(error)))
  const code = property(error, 'code')
  const known = typeof code === 'string' ? PROBLEMS[code] : undefined
  const message = `${typeof code === 'string' ? `${code}: ` : ''}${errorText(error)}`
  return new Refusal(known ?? problemOfStatus(status), message, status, afterOf(error))
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

export const isNotFound = (error: unknown): boolean => error instanceof Refusal && error.status === 404
/** There is one of that name, and we asked for a new one. */
export const isTaken = (error: unknown): boolean => error instanceof Refusal && error.status === 412
