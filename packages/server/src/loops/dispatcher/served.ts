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

  async among(classes: readonly string[]): Promise<string[]> {
    if (classes.length === 0) return []
    await this.#refresh()
    return classes.filter((requirementClass) => {
      const needs = needsOf(requirementClass)
      return this.#capabilities.some((words) => canServe(words, needs))
    })
  }

  async #refresh(): Promise<void> {
    if (performance.now() - this.#readAt < FRESH_MS) return
    this.#capabilities = await this.#workers.liveCapabilities()
    this.#readAt = performance.now()
  }
}
