import type { Share } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { storable } from '../text.ts'
import type { Tables } from '../tables.ts'
import { allRows } from '../rows.ts'

const MAX_SHARES = 1_000

export const makeShares = (db: Kysely<Tables>) => ({
  /** Those whose weight is not 1, by owner. */
  async list(): Promise<Share[]> {
    return await allRows(db)<Share>`select owner, weight from shares order by owner`
  },
  /** For what is queued from now. False: there are 1,000, and nothing changed. */
  async set({ owner, weight }: Share): Promise<boolean> {
    const name = storable(owner)
    if (weight === 1) {
      await sql`delete from shares where owner = ${name}`.execute(db)
      return true
    }
    const { numAffectedRows } = await sql`
      insert into shares (owner, weight) select ${name}, ${weight}::int
      where (select count(*) from shares where owner <> ${name}) < ${MAX_SHARES}
      on conflict (owner) do update set weight = excluded.weight`.execute(db)
    return (numAffectedRows ?? 0n) > 0n
  },
})
