import { addAbortListener } from 'node:events'
import { backoffMs } from '@scanfarm/contracts'
import { pause } from '@scanfarm/platform'
import { CloudError } from '../provider.ts'

/** Of one call, its response body included. */
const CALL_TIMEOUT_MS = 30_000
/** Calls in all, the first one included. */
const CALL_TRIES = 4
/** If the provider asks for a longer delay, the caller gets the error instead. */
const LONGEST_WAIT_MS = 30_000
const FIRST_WAIT_MS = 500

/** Limits of the calls to a provider. Defaults are the constants above. */
export interface CallLimits {
  readonly timeoutMs?: number
  readonly tries?: number
  /** Of the waits between calls; also the longest `retryAfterMs` that is respected. */
  readonly longestWaitMs?: number
  readonly firstWaitMs?: number
}

export interface CallOptions extends CallLimits {
  readonly signal: AbortSignal
  /** Converts whatever the call rejects with, except the reason of the signal. */
  readonly problemOf: (error: unknown) => CloudError
}

/**
 * One call with a time limit, for calls that must not be repeated. The signal passed to the call aborts it; a call that ignores
 * the signal is abandoned. Rejects with a CloudError (`unavailable` after the time limit) or the signal's reason.
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
  using _listener = addAbortListener(both, () => ended.reject(both.reason))
  try {
    return await Promise.race([call(both), ended.promise])
  } catch (error) {
    signal.throwIfAborted()
    if (limit.signal.aborted) throw limit.signal.reason
    throw error instanceof CloudError ? error : problemOf(error)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * `callOnce`, repeated after `unavailable`, for calls that create nothing. Waits as long as the provider asks for, otherwise with
 * exponential back-off. A provider that asks for more than `longestWaitMs` ends the retries at once.
 */
export async function callWithRetry<T>(
  call: (signal: AbortSignal) => Promise<T>,
  options: CallOptions,
): Promise<T> {
  const { tries = CALL_TRIES, longestWaitMs = LONGEST_WAIT_MS, firstWaitMs = FIRST_WAIT_MS } = options
  for (let made = 1; ; made++) {
    try {
      return await callOnce(call, options)
    } catch (error) {
      if (!(error instanceof CloudError) || error.problem !== 'unavailable' || made >= tries) throw error
      const backoff = { firstMs: firstWaitMs, mostMs: longestWaitMs, jitter: true }
      const waitMs = error.retryAfterMs ?? backoffMs(made, backoff)
      if (waitMs > longestWaitMs) throw error
      await pause(waitMs, options.signal)
      options.signal.throwIfAborted()
    }
  }
}

export const PRICES_TTL_MS = 3_600_000

/** `load`, called again only when its last result is older than `ttlMs`. Failures are not cached. */
export function cached<T>(
  ttlMs: number,
  load: (signal: AbortSignal) => Promise<T>,
  now: () => number = Date.now,
): (signal: AbortSignal) => Promise<T> {
  let kept: { readonly value: T; readonly untilMs: number } | undefined
  return async (signal) => {
    if (kept && now() < kept.untilMs) return kept.value
    const value = await load(signal)
    kept = { value, untilMs: now() + ttlMs }
    return value
  }
}
