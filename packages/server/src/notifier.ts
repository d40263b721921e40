/** Forwards database notifications to loops and requests. They are only hints: every listener polls too. */
export class Notifier {
  readonly #listeners = new Set<() => void>()
  readonly #restMs: number
  #notifiedAt = -Infinity
  #next: NodeJS.Timeout | undefined

  /**
   * The first notification is forwarded immediately. Later ones within `restMs` are combined into one at its end, so
   * that a burst does not make listeners query the database continuously.
   */
  constructor({ restMs = 0 }: { readonly restMs?: number } = {}) {
    this.#restMs = restMs
  }

  notify(): void {
    if (this.#next !== undefined) return
    const rest = this.#notifiedAt + this.#restMs - performance.now()
    if (rest > 0) this.#next = setTimeout(() => this.#pass(), rest).unref()
    else this.#pass()
  }

  #pass(): void {
    this.#next = undefined
    this.#notifiedAt = performance.now()
    for (const listener of this.#listeners) listener()
  }

  onNotify(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Resolves at the next notification or after `ms`. */
  async next(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    using _ = this.onNotify(resolve)
    const timer = setTimeout(resolve, ms)
    await promise
    clearTimeout(timer)
  }
}
