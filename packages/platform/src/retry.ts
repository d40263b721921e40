import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs, type Backoff } from '@scanfarm/contracts'

export interface RetryOptions {
  readonly backoff: Backoff
  /** An abort ends the wait; the attempt that follows is the last one. */
  readonly signal?: AbortSignal
  /** Whether to try again after this failure; called after each attempt, starting at 1. */
  shouldRetry(error: unknown, attempt: number): boolean
}

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
