interface Kept<T> {
  readonly value: Promise<T>
  readonly since: number
}

/** The most recently used values by key. Concurrent calls for a key share one load. A failed load is not kept. */
export class PromiseCache<T> {
  readonly #most: number
  readonly #maxAgeMs: number
  readonly #kept = new Map<string, Kept<T>>()

  /** An older value is loaded again. */
  constructor(most: number, maxAgeMs = Infinity) {
    this.#most = most
    this.#maxAgeMs = maxAgeMs
  }

  get(key: string, load: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(key)
    const now = performance.now()
    const kept =
      known !== undefined && now - known.since < this.#maxAgeMs ? known : { value: load(), since: now }
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    kept.value.catch(() => {
      if (this.#kept.get(key) === kept) this.#kept.delete(key)
    })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > this.#most && oldest !== undefined) this.#kept.delete(oldest)
    return kept.value
  }
}
