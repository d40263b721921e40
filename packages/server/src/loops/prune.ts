import type { LoopContext } from './loop-context.ts'

const HOUR_MS = 3_600_000
/** How long lost workers stay in the list. */
export const KEEP_WORKERS_MS = 24 * HOUR_MS
/** How long a repeated request returns its first answer. */
export const KEEP_ANSWERS_MS = 24 * HOUR_MS

type PruneParts = Pick<LoopContext, 'store' | 'log'>

/** Deletes expired rows and creates the partitions that will be needed. */
export const pruneOnce = async ({ store, log }: PruneParts): Promise<void> => {
  await store.maintain()
  const workers = await store.workers.prune(KEEP_WORKERS_MS)
  const answers = await store.idempotency.prune(KEEP_ANSWERS_MS)
  const sessions = await store.access.pruneSessions()
  const changes = await store.audit.prune()
  const refusals = await store.scopes.pruneRefusals()
  if (workers + answers + sessions + changes + refusals > 0)
    log.debug('expired rows were deleted', { workers, answers, sessions, changes, refusals })
}

/** Rows of one batch and batches of one turn. */
const BATCH = 1_000
const BATCHES = 20
/** Machines that were offline for longer delete folders by their age alone. */
const KEEP_PRUNED_WORKSPACES_DAYS = 30

/** Deletes pinned workflows and scopes that are no longer referenced. */
export class UnusedRowRemover {
  readonly #parts: PruneParts
  #afterHash = ''
  #afterScope = 0

  constructor(parts: PruneParts) {
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
    if (workflows + scopes > 0) log.debug('unused rows were deleted', { workflows, scopes, workspaces })
  }
}
