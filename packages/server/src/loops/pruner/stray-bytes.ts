import type { ArtifactStore, RunStore } from '@scanfarm/contracts'
import { Loop, type Logger } from '@scanfarm/platform'

const EVERY_MS = 60_000
/** Keys looked at in one turn, and in one question to the database; the next turn goes on. */
const A_TURN = 2_000
const AT_ONCE = 500
const DAY_MS = 86_400_000
/** Bytes come before their row, and the row of a run under way may wait for a database that is away. */
const SAFE_AGE_MS = DAY_MS
const BETWEEN_ROUNDS_MS = DAY_MS

const OF_ATTEMPT = /^runs\/(?<runUuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(?<attempt>\d{1,9})\/./

export interface StrayParts {
  readonly artifacts: Pick<ArtifactStore, 'list' | 'remove'>
  readonly store: { readonly runStore: Pick<RunStore, 'strayKeys'> }
  readonly log: Logger
}

/** Removes bytes whose row was never written, such as those of a process that was killed between the two. */
export const startStraySweep = (parts: StrayParts): AsyncDisposable => {
  const sweeper = new StraySweeper(parts)
  const { log } = parts
  const turn = async (signal: AbortSignal): Promise<void> => void (await sweeper.sweepOnce(signal))
  const loop = new Loop({ name: 'remove stray bytes', intervalMs: EVERY_MS, log, turn })
  loop.start()
  return loop
}

/** Goes through the artifact store, a part in each turn. */
export class StraySweeper {
  readonly #parts: StrayParts
  #keys: AsyncIterator<{ key: string; modified: Date }> | undefined
  #restUntil = 0

  constructor(parts: StrayParts) {
    this.#parts = parts
  }

  /** One turn; resolves to the number of removed objects. */
  async sweepOnce(signal: AbortSignal): Promise<number> {
    if (Date.now() < this.#restUntil) return 0
    const { log } = this.#parts
    let removed = 0
    for (let seen = 0; seen < A_TURN && !signal.aborted; seen += AT_ONCE) {
      removed += await this.#removeOf(await this.#next(), signal)
      if (this.#keys === undefined) break
    }
    if (removed > 0)
      log.info('bytes without a row were removed from the artifact store', { objects: removed })
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

  /** Those that an abort leaves are for the next round. */
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
