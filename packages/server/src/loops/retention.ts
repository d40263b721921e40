import { UPLOADS, type ArtifactStore } from '@scanfarm/contracts'
import type { Logger, LoopSpec } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'
import type { Config } from '../settings.ts'

const EVERY_MS = 60_000
/** Runs of one batch and batches of one turn. */
const BATCH = 200
const BATCHES = 20
/** Uploads deleted in one turn. */
const UPLOADS_A_TURN = 1_000
/** Runs whose objects are deleted concurrently, and concurrent deletions for each of them. */
const AT_ONCE = 8
const DAY_MS = 86_400_000

export interface RetentionParts {
  readonly store: Pick<Store, 'retention'>
  readonly artifacts: Pick<ArtifactStore, 'list' | 'remove' | 'oldKeys'>
  readonly config: { readonly retention: Pick<Config['retention'], 'runDays' | 'uploadDays'> }
  readonly log: Logger
}

/** Deletes expired runs and uploads if the settings have a retention. */
export const retentionLoops = (parts: RetentionParts): readonly LoopSpec[] => {
  const { runDays, uploadDays } = parts.config.retention
  if (runDays === 0 && uploadDays === 0) return []
  const keeper = new RetentionKeeper(parts)
  const turn = async (signal: AbortSignal): Promise<void> => {
    await keeper.removeRuns(signal)
    await keeper.removeUploads(signal)
  }
  return [{ name: 'delete expired runs and uploads', intervalMs: EVERY_MS, turn }]
}

/** Objects are deleted before the rows that reference them, so that a crash leaves no orphaned objects. */
export class RetentionKeeper {
  readonly #parts: RetentionParts
  /** Cursor of the next batch: unended runs may precede ended ones. */
  #after = 0

  constructor(parts: RetentionParts) {
    this.#parts = parts
  }

  /** One turn. Returns the number of deleted runs. */
  async removeRuns(signal: AbortSignal): Promise<number> {
    const { store, config, log } = this.#parts
    const days = config.retention.runDays
    let removed = 0
    for (let batch = 0; days > 0 && batch < BATCHES && !signal.aborted; batch += 1) {
      const { ids, next } = await store.retention.oldRuns({ days, after: this.#after, limit: BATCH })
      for (let at = 0; at < ids.length; at += AT_ONCE)
        await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => this.#removeBytes(id)))
      removed += await store.retention.removeRuns(ids, days)
      this.#after = next ?? 0
      if (next === undefined) break
    }
    if (removed > 0) log.info('expired runs were deleted', { runs: removed })
    return removed
  }

  /** One turn. Returns the number of deleted uploads. */
  async removeUploads(signal: AbortSignal): Promise<number> {
    const { artifacts, config, log } = this.#parts
    const days = config.retention.uploadDays
    if (days === 0 || signal.aborted) return 0
    const keys = await artifacts.oldKeys(UPLOADS, new Date(Date.now() - days * DAY_MS), UPLOADS_A_TURN)
    await this.#removeKeys(keys)
    if (keys.length > 0) log.info('expired uploads were deleted', { uploads: keys.length })
    return keys.length
  }

  /** Also deletes objects without a row: after the run is gone they could not be told from objects of another farm. */
  async #removeBytes(runId: number): Promise<void> {
    const { store, artifacts } = this.#parts
    const { runUuid, keys } = await store.retention.bytesOf(runId)
    const all = new Set(keys)
    if (runUuid !== undefined) for await (const { key } of artifacts.list(`runs/${runUuid}`)) all.add(key)
    await this.#removeKeys([...all])
  }

  async #removeKeys(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += AT_ONCE)
      await Promise.all(keys.slice(at, at + AT_ONCE).map((key) => this.#parts.artifacts.remove(key)))
  }
}
