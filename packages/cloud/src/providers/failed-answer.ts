import { CloudError, type CloudProblem } from '../provider.ts'
import { problemOfStatus, retryAfterMs } from './calls.ts'

/** An answer other than 2xx. */
export interface FailedAnswer {
  readonly status: number
  readonly header: (name: string) => string | undefined
  /** What the provider says about it; "" where it says nothing. */
  readonly words: string
}

/** How a provider puts what its statuses do not tell: some have no codes, so that their sentences must do. */
export interface Wording {
  /** Nothing of that kind is free there. */
  readonly capacity: RegExp
  /** Later it will do what it refuses now. */
  readonly busy: RegExp
  /** The account is full, not the token wrong: told with 403. */
  readonly limit: RegExp
}

export function problemOfAnswer(
  provider: string,
  { status, words, header }: FailedAnswer,
  problem: CloudProblem,
): CloudError {
  const after = retryAfterMs(header)
  return new CloudError(problem, `${provider} answers ${status}${words === '' ? '' : `: ${words}`}`, {
    ...(after !== undefined && { retryAfterMs: after }),
  })
}

export function problemByWords({ status, words }: FailedAnswer, wording: Wording): CloudProblem {
  if (status === 401 || status === 429) return problemOfStatus(status)
  if (wording.capacity.test(words)) return 'capacity'
  if (status >= 500) return 'unavailable'
  if (wording.busy.test(words)) return 'unavailable'
  if (status === 403 && wording.limit.test(words)) return 'refused'
  return problemOfStatus(status)
}

/** The answer that an error of axios holds; undefined where there was none. */
export function answerInside(error: unknown, wordsOf: (body: unknown) => string): FailedAnswer | undefined {
  const answer = property(error, 'response')
  const status = property(answer, 'status')
  if (typeof status !== 'number') return undefined
  const headers = property(answer, 'headers')
  return {
    status,
    header: (name) => textOf(property(headers, name)),
    words: wordsOf(property(answer, 'data')),
  }
}

/** Undefined where the answer is 404. */
export async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (property(property(error, 'response'), 'status') === 404) return undefined
    throw error
  }
}

export const property = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
