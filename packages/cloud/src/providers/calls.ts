import { setTimeout as wait } from 'node:timers/promises'
import { errorText } from '@scanfarm/platform'
import { CloudError, type CloudProblem } from '../provider.ts'

/** One call to a provider, all of its bytes included. */
export const CALL_TIMEOUT_MS = 30_000
/** Calls in all, the first one included. */
export const CALL_TRIES = 4
/** A provider that wants to be left alone for longer gets its will, and the caller the error. */
export const LONGEST_WAIT_MS = 30_000
const FIRST_WAIT_MS = 500

/** Of the provider; what is left out has the values above. */
export interface CallLimits {
  readonly timeoutMs?: number
  readonly tries?: number
  /** Of the waits; also the longest `retryAfterMs` that is waited for. */
  readonly longestWaitMs?: number
  readonly firstWaitMs?: number
}

export interface CallOptions extends CallLimits {
  readonly signal: AbortSignal
  /** What went wrong, as the farm sees it. Gets all that the call rejected with, but never the signal's own reason. */
  readonly problemOf: (error: unknown) => CloudError
}

/**
 * One call with a time limit, for what must not be repeated. The call gets a signal that ends it; one that does not listen is
 * left to itself. Rejects with a CloudError (`unavailable` when the time is over) or the signal's reason.
 */
export async function callOnce<T>(
  call: (signal: AbortSignal) => Promise<T>,
  { signal, problemOf, timeoutMs = CALL_TIMEOUT_MS }: CallOptions,
): Promise<T> {
  signal.throwIfAborted()
  const limit = new AbortController()
  const timer = setTimeout(() => {
    limit.abort(new CloudError('unavailable', `no answer within ${timeoutMs / 1000} s`))
  }, timeoutMs)
  const both = AbortSignal.any([signal, limit.signal])
  const ended = Promise.withResolvers<never>()
  const end = () => ended.reject(both.reason)
  both.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([call(both), ended.promise])
  } catch (error) {
    signal.throwIfAborted()
    if (limit.signal.aborted) throw limit.signal.reason
    throw error instanceof CloudError ? error : problemOf(error)
  } finally {
    clearTimeout(timer)
    both.removeEventListener('abort', end)
  }
}

/**
 * `callOnce`, again after `unavailable`: for all that makes nothing. Waits as long as the provider says, else twice as long each
 * time. Where it says more than `longestWaitMs` its error is passed on at once, with its `retryAfterMs`.
 */
export async function repeatSafe<T>(
  call: (signal: AbortSignal) => Promise<T>,
  options: CallOptions,
): Promise<T> {
  const { tries = CALL_TRIES, longestWaitMs = LONGEST_WAIT_MS, firstWaitMs = FIRST_WAIT_MS } = options
  for (let made = 1; ; made++) {
    try {
      return await callOnce(call, options)
    } catch (error) {
      if (!(error instanceof CloudError) || error.problem !== 'unavailable' || made >= tries) throw error
      const backoffMs = Math.min(firstWaitMs * 2 ** (made - 1), longestWaitMs)
      // Many machines are asked about at once: without the spread they would all come back at once.
      const waitMs = error.retryAfterMs ?? backoffMs * (0.5 + Math.random() / 2)
      if (waitMs > longestWaitMs) throw error
      await waitUnlessAborted(waitMs, options.signal)
    }
  }
}

async function waitUnlessAborted(waitMs: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(waitMs, undefined, { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/** What an HTTP status says by itself; providers refine it with their own codes. */
export function problemOfStatus(status: number): CloudProblem {
  if (status === 401 || status === 403) return 'credentials'
  if (status === 408 || status === 429 || status >= 500) return 'unavailable'
  return 'refused'
}

/** For what came without an answer: resets, refused connections, names that do not resolve, broken answers. */
export function unreachable(provider: string, error: unknown): CloudError {
  return new CloudError('unavailable', `${provider} cannot be reached: ${errorText(error)}`, { cause: error })
}

/**
 * Milliseconds after which to ask again, of `Retry-After` (seconds or a date) or else of `RateLimit-Reset` (Unix time in
 * seconds, as DigitalOcean, Linode and Hetzner send it). Undefined where there is neither.
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
