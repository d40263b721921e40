import { randomBytes } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { Store } from './store.ts'

const SIGNING_KEY_BYTES = 32

/** What the farm is known by. Made on first use, by whichever master comes first. */
export const makeFarm = (db: Kysely<unknown>): Pick<Store, 'farmId' | 'signingKey'> => ({
  farmId: async () => {
    await sql`update farm set farm_id = ${randomBytes(6).toString('hex')} where farm_id = ''`.execute(db)
    const { rows } = await sql<{ farm_id: string }>`select farm_id from farm`.execute(db)
    return rows[0]?.farm_id ?? ''
  },
  signingKey: async () => {
    await sql`update farm set signing_key = ${randomBytes(SIGNING_KEY_BYTES)} where signing_key is null`.execute(
      db,
    )
    const { rows } = await sql<{ signing_key: Uint8Array }>`select signing_key from farm`.execute(db)
    if (!rows[0]) throw new Error('the table farm has lost its row')
    return rows[0].signing_key
  },
})
