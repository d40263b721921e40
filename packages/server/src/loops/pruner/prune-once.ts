import type { Logger } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'

const HOUR_MS = 3_600_000
/** Lost workers stay in the list this long, so that somebody can see that they were lost. */
export const KEEP_WORKERS_MS = 24 * HOUR_MS
/** How long a repeated request gets its first answer. */
export const KEEP_ANSWERS_MS = 24 * HOUR_MS

export interface PruneParts {
  readonly store: Pick<Store, 'maintain'> & {
    readonly workers: Pick<Store['workers'], 'prune'>
    readonly idempotency: Pick<Store['idempotency'], 'prune'>
  }
  readonly log: Logger
}

/** Drops what nobody asks for any more, and makes room for what will come. */
export const pruneOnce = async ({ store, log }: PruneParts): Promise<void> => {
  await store.maintain()
  const workers = await store.workers.prune(KEEP_WORKERS_MS)
  const answers = await store.idempotency.prune(KEEP_ANSWERS_MS)
  if (workers + answers > 0) log.debug('old rows were removed', { workers, answers })
}
