import type { Logger } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'

/** Rows looked at in one go, and at most so often in a turn; the next turn goes on. */
const BATCH = 1_000
const BATCHES = 20
/** A machine that was away for longer removes folders by their age alone. */
const KEEP_PRUNED_WORKSPACES_DAYS = 30

export interface UnusedParts {
  readonly store: Pick<Store, 'retention'>
  readonly log: Logger
}

/** Removes pinned workflows and scopes that nothing refers to any more. */
export class UnusedRemover {
  readonly #parts: UnusedParts
  #afterHash = ''
  #afterScope = 0

  constructor(parts: UnusedParts) {
    this.#parts = parts
  }

  async removeOnce(): Promise<void> {
    const { log, store } = this.#parts
    const { retention } = store
    let [workflows, scopes] = [0, 0]
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const { removed, next } = await retention.removeWorkflows(this.#afterHash, BATCH)
      this.#afterHash = next ?? ''
      workflows += removed
      if (next === undefined) break
    }
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const { removed, next } = await retention.removeScopes(this.#afterScope, BATCH)
      this.#afterScope = next ?? 0
      scopes += removed
      if (next === undefined) break
    }
    const workspaces = await retention.forgetPrunedWorkspaces(KEEP_PRUNED_WORKSPACES_DAYS)
    if (workflows + scopes > 0) log.debug('unused rows were removed', { workflows, scopes, workspaces })
  }
}
