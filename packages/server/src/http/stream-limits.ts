import { AppError } from '@scanfarm/contracts'

const RETRY_SECONDS = 30

export interface StreamLimitsOptions {
  /** Plural, for messages. */
  readonly what: string
  readonly ofCaller: number
  readonly total: number
  /** What a caller with too many streams can do. */
  readonly advice: string
}

/** Limits the streams that are open at the same time, for each caller and in total. */
export class StreamLimits {
  readonly #options: StreamLimitsOptions
  /** Open streams and streams being opened, by caller. */
  readonly #counts = new Map<string, number>()

  constructor(options: StreamLimitsOptions) {
    this.#options = options
  }

  /** Returns what to call when the stream is closed. Throws if there are too many. */
  enter(caller: string): () => void {
    const { what, ofCaller, total, advice } = this.#options
    const own = this.#counts.get(caller) ?? 0
    if (own >= ofCaller)
      throw new AppError('too_many_requests', `this caller already has ${ofCaller} open ${what}: ${advice}`, {
        retryAfter: RETRY_SECONDS,
      })
    const all = this.#counts.values().reduce((sum, count) => sum + count, 0)
    if (all >= total)
      throw new AppError('unavailable', `${total} ${what} are already open; try again later`, {
        retryAfter: RETRY_SECONDS,
      })
    this.#counts.set(caller, own + 1)
    return () => {
      const left = (this.#counts.get(caller) ?? 1) - 1
      if (left > 0) this.#counts.set(caller, left)
      else this.#counts.delete(caller)
    }
  }
}
