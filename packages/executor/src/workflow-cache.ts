/** Pinned workflows by content hash, the most recently used ones parsed and ready. */
export class WorkflowCache<T> {
  readonly #load: (hash: string) => Promise<T>
  readonly #limit: number
  readonly #kept = new Map<string, Promise<T>>()

  constructor(limit: number, load: (hash: string) => Promise<T>) {
    this.#limit = limit
    this.#load = load
  }

  /** Calls for the same hash share one load; a failed one is not kept. */
  get(hash: string): Promise<T> {
    const kept = this.#kept.get(hash) ?? this.#load(hash)
    this.#kept.delete(hash)
    this.#kept.set(hash, kept)
    kept.catch(() => {
      if (this.#kept.get(hash) === kept) this.#kept.delete(hash)
    })
    const oldest = this.#kept.keys().next()
    if (this.#kept.size > this.#limit && !oldest.done) this.#kept.delete(oldest.value)
    return kept
  }
}
