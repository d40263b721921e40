import type { Limits } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { storableJson } from './text.ts'
import type { Tables } from './tables.ts'
import { firstValue } from './rows.ts'

/** The limits of all runs together; those of scopes are in `makeScopes`. */
export const makeLimits = (db: Kysely<Tables>) => {
  /** Offers waiting runs again that have a share now, after a change of limits or of what keeps shares. */
  const wake = (): Promise<number> => firstValue(db, 0)`select wake_limited(null) as woken`
  return {
    async read(): Promise<Limits> {
      return await firstValue<Limits>(db, {})`select limits from farm_limits`
    },
    async set(limits: Limits): Promise<void> {
      await sql`update farm_limits set limits = ${storableJson(limits)}::jsonb`.execute(db)
      await wake()
    },
    wake,
  }
}
