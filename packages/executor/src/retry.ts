import { setTimeout as delay } from 'node:timers/promises'

export interface Backoff {
  readonly firstMs: number
  readonly mostMs: number
}

/** Doubling waits; an abort cuts a wait short, and nothing is thrown for it. */
export async function backOff(attempt: number, backoff: Backoff, signal?: AbortSignal): Promise<void> {
  const ms = Math.min(backoff.firstMs * 2 ** Math.min(attempt - 1, 30), backoff.mostMs)
  await pause(ms, signal)
}

export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined)

export const reasonOf = (error: unknown): string => (Error.isError(error) ? error.message : String(error))

/** Whether the promise settles in time. A rejection is one way to settle. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const stop = new AbortController()
  try {
    const settled = promise.then(
      () => true,
      () => true,
    )
    return await Promise.race([settled, pause(ms, stop.signal).then(() => false)])
  } finally {
    stop.abort()
  }
}
