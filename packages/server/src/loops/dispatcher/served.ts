import { canServe, needsOf } from '@scanfarm/contracts'
import type { Store } from '@scanfarm/store'

/** A worker that has just joined gets its first runs this late. */
const FRESH_MS = 500

/** Which classes some live worker can run. What nobody can run stays in the outbox, where it is seen and can wait. */
export class Served {
  readonly #workers: Pick<Store['workers'], 'liveCapabilities'>
  #capabilities: readonly (readonly string[])[] = []
  #readAt = -Infinity

  constructor(workers: Pick<Store['workers'], 'liveCapabilities'>) {
    this.#workers = workers
  }

  /** Does nothing while what is known is fresh. */
  async refresh(): Promise<void> {
    if (performance.now() - this.#readAt < FRESH_MS) return
    this.#capabilities = await this.#workers.liveCapabilities()
    this.#readAt = performance.now()
  }

  among(classes: readonly string[]): string[] {
    return classes.filter((requirementClass) => {
      const needs = needsOf(requirementClass)
      return this.#capabilities.some((words) => canServe(words, needs))
    })
  }
}
