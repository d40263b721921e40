import pg from 'pg'
import { quoted, type BaseDatabase, type BaseTable } from './base-database.ts'

const ROWS_AT_ONCE = 500

/** Opens the Postgres database of a base folder in one read-only transaction, so that all tables are consistent. */
export const openPostgresBase = async (config: pg.ClientConfig): Promise<BaseDatabase> => {
  const client = new pg.Client({ ...config, application_name: 'scanfarm import-base' })
  // Without a listener an error between two queries ends the process; the next query reports it.
  client.on('error', () => undefined)
  await client.connect()
  await client.query('begin transaction isolation level repeatable read read only')
  const columns = async (table: BaseTable): Promise<Set<string>> => {
    const { rows } = await client.query<{ name: string }>(
      'select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped',
      [table],
    )
    return new Set(rows.map(({ name }) => name))
  }
  return {
    async count(table) {
      if ((await columns(table)).size === 0) return 0
      const { rows } = await client.query<{ n: string }>(`select count(*) as n from ${quoted(table)}`)
      return Number(rows[0]?.n)
    },
    async *rows(table, order) {
      const known = await columns(table)
      if (known.size === 0) return
      const by = order.filter((name) => known.has(name)).map(quoted)
      const cursor = quoted(`scanfarm_${table}`)
      await client.query(
        `declare ${cursor} cursor for select * from ${quoted(table)}${by.length === 0 ? '' : ` order by ${by.join(', ')}`}`,
      )
      try {
        for (;;) {
          const { rows } = await client.query(`fetch ${ROWS_AT_ONCE} from ${cursor}`)
          if (rows.length === 0) return
          yield* rows
        }
      } finally {
        // After a failure the transaction has closed the cursor.
        await client.query(`close ${cursor}`).catch(() => undefined)
      }
    },
    async [Symbol.asyncDispose]() {
      await client.end()
    },
  }
}
