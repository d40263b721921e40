import { randomBytes } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { Tables } from './tables.ts'

const SIGNING_KEY_BYTES = 32

/** Tables of user data, by their names in the API. */
const TABLES: Readonly<Record<string, string>> = {
  runs: 'runs',
  step_results: 'steps',
  artifacts: 'artifacts',
  event_logs: 'event_logs',
  assets: 'assets',
  vulnerabilities: 'vulnerabilities',
  schedules: 'schedules',
}

/** Tables up to this size are counted; the size of larger ones is the planner's estimate. */
const EXACT_UP_TO = 10_000

/** The identity of the farm, generated on first use. */
export const makeFarm = (db: Kysely<Tables>) => ({
  /** Id of this farm. Queue names contain it, so that two farms can share one Redis. */
  farmId: async (): Promise<string> => {
    const farm_id = randomBytes(6).toString('hex')
    await db.updateTable('farm').set({ farm_id }).where('farm_id', '=', '').execute()
    return (await db.selectFrom('farm').select('farm_id').executeTakeFirst())?.farm_id ?? ''
  },
  /** Key that signs login tokens: 32 random bytes, generated on first use. */
  signingKey: async (): Promise<Uint8Array> => {
    const signing_key = randomBytes(SIGNING_KEY_BYTES)
    await db.updateTable('farm').set({ signing_key }).where('signing_key', 'is', null).execute()
    const row = await db.selectFrom('farm').select('signing_key').executeTakeFirst()
    if (!row?.signing_key) throw new Error('the table farm has no row')
    return row.signing_key
  },
  /** The tables of user data with their number of rows, which is an estimate for large tables. */
  tables: (): Promise<{ name: string; rows: number; estimated: boolean }[]> =>
    Promise.all(
      Object.entries(TABLES).map(async ([name, table]) => {
        const { rows } = await sql<{ counted: number; estimated: number }>`
          select (select count(*) from (select 1 from ${sql.table(table)} limit ${EXACT_UP_TO + 1}) first) as counted,
                 (select coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint
                  from pg_partition_tree(${table}::regclass) t join pg_class c on c.oid = t.relid
                  where t.isleaf) as estimated
        `.execute(db)
        const { counted = 0, estimated = 0 } = rows[0] ?? {}
        const isExact = counted <= EXACT_UP_TO
        return { name, rows: isExact ? counted : Math.max(counted, estimated), estimated: !isExact }
      }),
    ),
})
