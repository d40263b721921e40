/**
 * Passes notifications of the database on to the loops and requests of this process. A notification is only a hint:
 * every listener polls as well.
 */
export class Wake {
  readonly #listeners = new Set<() => void>()
  readonly #restMs: number
  #rungAt = -Infinity
  #next: NodeJS.Timeout | undefined

  /**
   * The first call is passed on at once; calls that follow within `restMs` become one at its end, so that a storm of
   * notifications makes no listener query the database without pause.
   */
  constructor({ restMs = 0 }: { readonly restMs?: number } = {}) {
    this.#restMs = restMs
  }

  ring(): void {
    if (this.#next !== undefined) return
    const rest = this.#rungAt + this.#restMs - performance.now()
    if (rest > 0) this.#next = setTimeout(() => this.#pass(), rest).unref()
    else this.#pass()
  }

  #pass(): void {
    this.#next = undefined
    this.#rungAt = performance.now()
    for (const listener of this.#listeners) listener()
  }

  onWake(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Resolves at the next call, or after `ms`. */
  async next(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    using _ = this.onWake(resolve)
    const timer = setTimeout(resolve, ms)
    await promise
    clearTimeout(timer)
  }
}
