const MAX_IDS = 100_000

/**
 * Ids of runs whose cancel was heard of before the run was: it may be claimed here a moment later. Each is kept for
 * once to twice the given time, in two generations, so that forgetting costs nothing; a flood forgets sooner.
 */
export class KnownCancels {
  readonly #rememberMs: number
  #young = new Set<number>()
  #old = new Set<number>()
  #turnedAt = performance.now()

  constructor(rememberMs: number) {
    this.#rememberMs = rememberMs
  }

  add(runId: number): void {
    this.#turn()
    this.#young.add(runId)
  }

  has(runId: number): boolean {
    this.#turn()
    return this.#young.has(runId) || this.#old.has(runId)
  }

  #turn(): void {
    const age = performance.now() - this.#turnedAt
    if (age < this.#rememberMs && this.#young.size < MAX_IDS) return
    this.#old = age < 2 * this.#rememberMs ? this.#young : new Set()
    this.#young = new Set()
    this.#turnedAt = performance.now()
  }
}
