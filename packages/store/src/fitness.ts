import type pg from 'pg'
import { UnfitDatabaseError } from './schema-version.ts'

const LIMITS = `
  select current_setting('server_encoding') as encoding, current_user as login, current_database() as database,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as server,
         (select rolconnlimit from pg_roles where rolname = current_user) as "ofLogin",
         (select datconnlimit from pg_database where datname = current_database()) as "ofDatabase"`

interface Limits {
  readonly encoding: string
  readonly login: string
  readonly database: string
  readonly server: number
  /** -1: no limit. */
  readonly ofLogin: number
  readonly ofDatabase: number
}

/** Rejects with what to do if this database, or the pooler before it, cannot serve a farm. */
export async function demandFitness(pool: pg.Pool, connections: number): Promise<void> {
  const { rows } = await pool.query<Limits>(LIMITS)
  const [found] = rows
  if (found === undefined) return
  if (found.encoding !== 'UTF8')
    throw new UnfitDatabaseError(
      `the database ${found.database} has the encoding ${found.encoding}, in which not every text can be stored: create one with \`create database … encoding 'UTF8' template template0\` and set DATABASE_URL to it`,
    )
  const [least] = [
    { limit: found.server, of: 'the server (max_connections)' },
    { limit: found.ofLogin, of: `the login ${found.login} (alter role … connection limit)` },
    { limit: found.ofDatabase, of: `the database ${found.database} (alter database … connection limit)` },
  ]
    .filter(({ limit }) => limit >= 0)
    .sort((a, b) => a.limit - b.limit)
  if (least !== undefined && least.limit < connections)
    throw new UnfitDatabaseError(
      `a server needs ${connections} connections to Postgres (database.pool_server), and ${least.of} allows ${least.limit}: raise that limit, or lower database.pool_server`,
    )
  await demandTransactions(pool)
}

const demandTransactions = async (pool: pg.Pool): Promise<void> => {
  const client = await pool.connect()
  let failed = true
  try {
    await client.query('begin')
    await client.query('select 1')
    await client.query('commit')
    failed = false
  } catch (error) {
    if (!Error.isError(error) || !/statement pooling/.test(error.message)) throw error
    throw new UnfitDatabaseError(
      'the pooler before Postgres is in statement mode, which allows no transactions: set its pool_mode to transaction or session',
    )
  } finally {
    client.release(failed)
  }
}
