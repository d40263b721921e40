import { errorText } from '@scanfarm/platform'
import { CloudError, type CloudProblem } from '../../provider.ts'
import { problemOfStatus, retryAfterMs, unreachable } from '../calls.ts'

/** EC2's codes say more than its statuses: a lack of capacity comes as a 500, throttling as a 503 or a 400. */
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

/** EC2's code for what went wrong, such as `InvalidInstanceID.NotFound`; "" where there is none. */
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

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? { ...value } : {})
const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

function statusOf(error: unknown): number | undefined {
  const status =
    field(field(error, '$metadata'), 'httpStatusCode') ?? field(field(error, '$response'), 'statusCode')
  return typeof status === 'number' ? status : undefined
}

function headersOf(error: unknown): Readonly<Record<string, string | undefined>> {
  const headers = Object.entries(fieldsOf(field(field(error, '$response'), 'headers')))
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), String(value)]))
}
