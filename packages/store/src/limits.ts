import type { Limits } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { storableJson } from './text.ts'
import type { Tables } from './tables.ts'

/** The limits of all runs together; those of scopes are in `makeScopes`. */
export const makeLimits = (db: Kysely<Tables>) => {
  /** Offers waiting runs again that have a share now, after a change of limits or of what keeps shares. */
  const wake = async (): Promise<number> => {
    const { rows } = await sql<{ woken: number }>`select wake_limited(null) as woken`.execute(db)
    return rows[0]?.woken ?? 0
  }
  return {
    async read(): Promise<Limits> {
      const { rows } = await sql<{ limits: Limits }>`select limits from farm_limits`.execute(db)
      return rows[0]?.limits ?? {}
    },
    async set(limits: Limits): Promise<void> {
      await sql`update farm_limits set limits = ${storableJson(limits)}::jsonb`.execute(db)
      await wake()
    },
    wake,
  }
}
