import type { Config, Logger } from '@scanfarm/platform'
import { schemaVersion } from '@scanfarm/store'
import { withStore } from './with-store.ts'

export interface Migrated {
  /** Names of the migrations that were applied now, in order. */
  readonly applied: readonly string[]
  /** Name of the newest one. */
  readonly version: string
}

/** Brings the database of these settings to the schema of this program. Safe at any time, also several at once. */
export const migrateDatabase = (config: Config, log: Logger): Promise<Migrated> =>
  withStore(config, log, async (_store, _services, applied) => ({ applied, version: schemaVersion }))
