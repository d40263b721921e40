import { sql, type Kysely } from 'kysely'
import type { Store } from './store.ts'

/** Tables with what users work with, by the names that clients know. */
const TABLES: Readonly<Record<string, string>> = {
  runs: 'runs',
  step_results: 'steps',
  artifacts: 'artifacts',
  event_logs: 'event_logs',
  assets: 'assets',
  vulnerabilities: 'vulnerabilities',
  schedules: 'schedules',
}

/** Tables are counted up to this; the rows of larger ones are what the planner believes. */
const EXACT_UP_TO = 10_000

export const makeTables = (db: Kysely<unknown>): Pick<Store, 'tables'> => ({
  tables: () =>
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
