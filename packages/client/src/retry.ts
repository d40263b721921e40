import { ApiError } from './api-error.ts'

export interface RetryOptions {
  /** No attempt starts later than this after the first; default 30 seconds. */
  readonly withinMs?: number
  /** The first wait; each following one is twice as long. Default 250. */
  readonly firstMs?: number
  /** The longest wait, unless the server asks for a longer one; default 5 seconds. */
  readonly mostMs?: number
}

const DEFAULTS = { withinMs: 30_000, firstMs: 250, mostMs: 5_000 }

/** The wait after an attempt, starting at 1; up to a half shorter at random, so that many clients do not return at once. */
export const backoffMs = (attempt: number, { firstMs, mostMs }: RetryOptions = {}): number =>
  Math.min((firstMs ?? DEFAULTS.firstMs) * 2 ** Math.min(attempt - 1, 30), mostMs ?? DEFAULTS.mostMs) *
  (0.5 + Math.random() / 2)

/** Rejects with the reason of the signal as soon as it aborts. */
export const pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
  signal?.throwIfAborted()
  const { promise, resolve, reject } = promiseParts()
  const timer = setTimeout(resolve, ms)
  const stop = (): void => reject(signal?.reason)
  signal?.addEventListener('abort', stop)
  try {
    await promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/** `Promise.withResolvers`, which Node 20 does not have. */
export const promiseParts = () => {
  let resolve = (): void => undefined
  let reject = (_reason: unknown): void => undefined
  const promise = new Promise<void>((done, failed) => {
    resolve = done
    reject = failed
  })
  return { promise, resolve, reject }
}

/** The wait that the server asked for, with some jitter, or else that of the backoff. */
export const waitAfter = (error: ApiError, attempt: number, options?: RetryOptions): number =>
  error.retryAfter === undefined
    ? backoffMs(attempt, options)
    : Math.max(error.retryAfter * 1_000 * (1 + Math.random() / 10), backoffMs(attempt, options))

/** Repeats an attempt that fails with a temporary error. Rejects with the last error. */
export const retrying = async <T>(
  attempt: () => Promise<T>,
  options: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<T> => {
  const until = performance.now() + (options.withinMs ?? DEFAULTS.withinMs)
  for (let count = 1; ; count += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isTemporary) throw error
      const wait = waitAfter(error, count, options)
      if (performance.now() + wait > until) throw error
      await pause(wait, signal)
    }
  }
}
