/** Passes the database's wake-up calls on to whoever waits in this process. A hint: everybody polls as well. */
export class Wake {
  readonly #listeners = new Set<() => void>()

  ring(): void {
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
