/** Bounds the bytes that are held at the same time, in sum and for each key. */
export class ByteBudget {
  readonly #total: number
  readonly #each: number
  readonly #byKey = new Map<string, number>()
  #held = 0

  constructor(total: number, each: number) {
    this.#total = total
    this.#each = each
  }

  /** False, and nothing is held, when that is more than is left. */
  take(key: string, bytes: number): boolean {
    const held = this.#byKey.get(key) ?? 0
    if (this.#held + bytes > this.#total || held + bytes > this.#each) return false
    this.#held += bytes
    this.#byKey.set(key, held + bytes)
    return true
  }

  give(key: string, bytes: number): void {
    const held = (this.#byKey.get(key) ?? 0) - bytes
    this.#held -= bytes
    if (held > 0) this.#byKey.set(key, held)
    else this.#byKey.delete(key)
  }
}
