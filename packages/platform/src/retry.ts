import { setTimeout as delay } from 'node:timers/promises'

/** Waits that double from the first to the longest. */
export interface Backoff {
  readonly firstMs: number
  readonly mostMs: number
  /** Shortens each wait by up to a half at random, so that many callers do not retry at the same time. */
  readonly jitter?: boolean
}

export interface RetryOptions {
  readonly backoff: Backoff
  /** An abort ends the wait; the attempt that follows is the last one. */
  readonly signal?: AbortSignal
  /** Whether to try again after this failure; called after each attempt, starting at 1. */
  shouldRetry(error: unknown, attempt: number): boolean
}

/** The wait after an attempt, starting at 1. */
export const backoffMs = (attempt: number, { firstMs, mostMs, jitter = false }: Backoff): number =>
  Math.min(firstMs * 2 ** Math.min(attempt - 1, 30), mostMs) * (jitter ? 0.5 + Math.random() / 2 : 1)

/** Resolves after `ms`, or as soon as the signal aborts. Never rejects. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined)

export const backOff = (attempt: number, backoff: Backoff, signal?: AbortSignal): Promise<void> =>
  pause(backoffMs(attempt, backoff), signal)

/** Repeats `work` until it succeeds. Rejects with its last error. */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { backoff, signal, shouldRetry } = options
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (signal?.aborted === true || !shouldRetry(error, attempt)) throw error
    }
    await backOff(attempt, backoff, signal)
  }
}

/** Whether the promise settles in time; a rejection also settles it. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const stop = new AbortController()
  try {
    const settled = promise.then(
      () => true,
      () => true,
    )
    return await Promise.race([settled, pause(ms, stop.signal).then(() => false)])
  } finally {
    stop.abort('settled')
  }
}
