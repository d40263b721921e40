import { errorText } from '@scanfarm/platform'
import { CloudError, type CloudProblem } from '../../provider.ts'
import { problemOfStatus, property, retryAfterMs, unreachable } from '../errors.ts'

/** EC2's error codes are more precise than its statuses: a lack of capacity is a 500, throttling a 503 or 400. */
const PROBLEMS: Readonly<Record<string, CloudProblem>> = {
  AccessDenied: 'credentials',
  AuthFailure: 'credentials',
  Blocked: 'credentials',
  CredentialsProviderError: 'credentials',
  ExpiredToken: 'credentials',
  InvalidClientTokenId: 'credentials',
  MissingAuthenticationToken: 'credentials',
  OptInRequired: 'credentials',
  RequestExpired: 'credentials',
  SignatureDoesNotMatch: 'credentials',
  UnauthorizedOperation: 'credentials',
  UnrecognizedClientException: 'credentials',
  InsufficientAddressCapacity: 'capacity',
  InsufficientCapacity: 'capacity',
  InsufficientHostCapacity: 'capacity',
  InsufficientInstanceCapacity: 'capacity',
  InsufficientReservedInstanceCapacity: 'capacity',
  SpotMaxPriceTooLow: 'capacity',
  BandwidthLimitExceeded: 'unavailable',
  EC2ThrottledException: 'unavailable',
  InternalError: 'unavailable',
  InternalFailure: 'unavailable',
  RequestLimitExceeded: 'unavailable',
  ServiceUnavailable: 'unavailable',
  Throttling: 'unavailable',
  ThrottlingException: 'unavailable',
  TooManyRequestsException: 'unavailable',
  Unavailable: 'unavailable',
}

/** EC2's error code, for example `InvalidInstanceID.NotFound`, or "". */
export const codeOf = (error: unknown): string => (error instanceof Error ? error.name : '')

export function problemOf(error: unknown): CloudError {
  const status = statusOf(error)
  const problem = PROBLEMS[codeOf(error)] ?? (status === undefined ? undefined : problemOfStatus(status))
  if (problem === undefined) return unreachable('AWS', error)
  const headers = headersOf(error)
  const after = retryAfterMs((name) => headers[name])
  return new CloudError(problem, `${codeOf(error)}: ${errorText(error)}`, {
    cause: error,
    ...(after !== undefined && { retryAfterMs: after }),
  })
}

function statusOf(error: unknown): number | undefined {
  const status =
    property(property(error, '$metadata'), 'httpStatusCode') ??
    property(property(error, '$response'), 'statusCode')
  return typeof status === 'number' ? status : undefined
}

function headersOf(error: unknown): Readonly<Record<string, string | undefined>> {
  const headers = property(property(error, '$response'), 'headers')
  if (typeof headers !== 'object' || headers === null) return {}
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
}
