import { CloudError, type CloudProblem, type MachineRequest } from '../provider.ts'
import { problemOfStatus, property, retryAfterMs, textOf } from './errors.ts'

/** What DigitalOcean, Hetzner and Linode have in common: a token, numbered pages and errors in JSON. */

/** A response other than 2xx. */
export interface FailedResponse {
  readonly status: number
  readonly header: (name: string) => string | undefined
  /** The provider's error message, or "". */
  readonly message: string
}

/** Recognises errors by their messages, for providers without error codes. */
export interface MessagePatterns {
  /** No machine of the requested kind is available. */
  readonly capacity: RegExp
  /** A temporary condition: the same call may succeed later. */
  readonly busy: RegExp
  /** A limit of the account, which comes as 403 like a bad token. */
  readonly limit: RegExp
}

export function responseError(
  provider: string,
  { status, message, header }: FailedResponse,
  problem: CloudProblem,
): CloudError {
  const after = retryAfterMs(header)
  return new CloudError(problem, `${provider} answers ${status}${message === '' ? '' : `: ${message}`}`, {
    ...(after !== undefined && { retryAfterMs: after }),
  })
}

export function classifyByMessage(
  { status, message }: FailedResponse,
  patterns: MessagePatterns,
): CloudProblem {
  if (status === 401 || status === 429) return problemOfStatus(status)
  if (patterns.capacity.test(message)) return 'capacity'
  if (status >= 500 || patterns.busy.test(message)) return 'unavailable'
  if (status === 403 && patterns.limit.test(message)) return 'refused'
  return problemOfStatus(status)
}

/** The response in an axios error; undefined when there was none. */
export function failedResponseOf(
  error: unknown,
  messageOf: (body: unknown) => string,
): FailedResponse | undefined {
  const response = property(error, 'response')
  const status = property(response, 'status')
  if (typeof status !== 'number') return undefined
  const headers = property(response, 'headers')
  return {
    status,
    header: (name) => textOf(property(headers, name)),
    message: messageOf(property(response, 'data')),
  }
}

/** Undefined when the response is 404. */
export async function undefinedIfNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (property(property(error, 'response'), 'status') === 404) return undefined
    throw error
  }
}

/** All items of a list. `next` is the number of the next page; undefined or null on the last one. */
export async function allPages<T>(
  provider: string,
  { pageSize, maxPages }: { readonly pageSize: number; readonly maxPages: number },
  load: (
    page: number,
  ) => Promise<{ readonly items: readonly T[]; readonly next?: number | null | undefined }>,
): Promise<T[]> {
  const all: T[] = []
  let page = 1
  for (let loaded = 0; loaded < maxPages; loaded++) {
    const { items, next } = await load(page)
    all.push(...items)
    if (next === undefined || next === null) return all
    page = next
  }
  throw new CloudError('refused', `${provider} lists more than ${maxPages * pageSize} items`)
}

/** Items may move between pages while they are read. */
export const uniqueById = <T extends { readonly id: string }>(items: readonly T[]): T[] => [
  ...new Map(items.map((item) => [item.id, item])).values(),
]

export function refuseSpot(provider: string, { spot }: MachineRequest): void {
  if (spot) throw new CloudError('refused', `${provider} has no spot machines: leave out cloud_use_spot`)
}

/** The endpoint without the API version, which operators often copy from the provider's documentation. */
export const apiRoot = (endpoint: string): string => endpoint.replace(/\/+(v\d+(beta)?\/*)?$/, '')

/** Some providers report a machine as off for a moment between its creation and its first start. */
const FIRST_START_MS = 300_000

/** State of a machine that is powered off: a new one is about to start, an old one is of no use any more. */
export function stateWhenOff(createdAt: string, nowMs: number = Date.now()): 'starting' | 'stopping' {
  return nowMs - Date.parse(createdAt) < FIRST_START_MS ? 'starting' : 'stopping'
}
