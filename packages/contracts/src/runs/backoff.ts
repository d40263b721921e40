/** Waits that double from the first to the longest. */
export interface Backoff {
  readonly firstMs: number
  readonly mostMs: number
  /** Shortens each wait by up to a half at random, so that many callers do not retry at the same time. */
  readonly jitter?: boolean
}

/** The wait after an attempt, starting at 1. */
export const backoffMs = (attempt: number, { firstMs, mostMs, jitter = false }: Backoff): number =>
  Math.min(firstMs * 2 ** Math.min(attempt - 1, 30), mostMs) * (jitter ? 0.5 + Math.random() / 2 : 1)
