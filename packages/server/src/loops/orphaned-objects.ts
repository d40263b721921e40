import type { ArtifactStore, RunStore } from '@scanfarm/contracts'
import type { Logger, LoopSpec } from '@scanfarm/platform'

const EVERY_MS = 60_000
/** Keys checked in one turn and in one query. */
const A_TURN = 2_000
const AT_ONCE = 500
const DAY_MS = 86_400_000
/** Objects are written before their row, and the row of a running run may wait for an unavailable database. */
const SAFE_AGE_MS = DAY_MS
const BETWEEN_ROUNDS_MS = DAY_MS

const OF_ATTEMPT = /^runs\/(?<runUuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(?<attempt>\d{1,9})\/./

export interface OrphanSweepParts {
  readonly artifacts: Pick<ArtifactStore, 'list' | 'remove'>
  readonly store: { readonly runStore: Pick<RunStore, 'strayKeys'> }
  readonly log: Logger
}

/** Deletes objects whose row was never written, for example because the process was killed in between. */
export const orphanLoop = (parts: OrphanSweepParts): LoopSpec => {
  const sweeper = new OrphanSweeper(parts)
  return {
    name: 'remove orphaned objects',
    intervalMs: EVERY_MS,
    turn: async (signal) => void (await sweeper.sweepOnce(signal)),
  }
}

/** Walks through the artifact store, one part in each turn. */
export class OrphanSweeper {
  readonly #parts: OrphanSweepParts
  #keys: AsyncIterator<{ key: string; modified: Date }> | undefined
  #restUntil = 0

  constructor(parts: OrphanSweepParts) {
    this.#parts = parts
  }

  /** One turn. Returns the number of deleted objects. */
  async sweepOnce(signal: AbortSignal): Promise<number> {
    if (Date.now() < this.#restUntil) return 0
    const { log } = this.#parts
    let removed = 0
    for (let seen = 0; seen < A_TURN && !signal.aborted; seen += AT_ONCE) {
      removed += await this.#removeOf(await this.#next(), signal)
      if (this.#keys === undefined) break
    }
    if (removed > 0) log.info('orphaned objects were deleted from the artifact store', { objects: removed })
    return removed
  }

  /** The keys of the next batch that are old enough to delete. After an error the listing restarts from its first key. */
  async #next(): Promise<string[]> {
    const keys = (this.#keys ??= this.#parts.artifacts.list('runs')[Symbol.asyncIterator]())
    this.#keys = undefined
    const before = Date.now() - SAFE_AGE_MS
    const old: string[] = []
    for (let count = 0; count < AT_ONCE; count += 1) {
      const next = await keys.next()
      if (next.done === true) {
        this.#restUntil = Date.now() + BETWEEN_ROUNDS_MS
        return old
      }
      if (next.value.modified.getTime() < before) old.push(next.value.key)
    }
    this.#keys = keys
    return old
  }

  /** Keys that are left after an abort are deleted in the next pass. */
  async #removeOf(keys: readonly string[], signal: AbortSignal): Promise<number> {
    const { store, artifacts } = this.#parts
    const asked = keys.flatMap((key) => {
      const { runUuid, attempt } = OF_ATTEMPT.exec(key)?.groups ?? {}
      return runUuid === undefined ? [] : [{ runUuid, attempt: Number(attempt), key }]
    })
    if (asked.length === 0) return 0
    let removed = 0
    for (const key of await store.runStore.strayKeys(asked)) {
      if (signal.aborted) break
      await artifacts.remove(key)
      removed += 1
    }
    return removed
  }
}
