import type pg from 'pg'
import { UnfitDatabaseError } from '../schema-version.ts'

const LIMITS = `
  select current_setting('server_encoding') as encoding, current_user as login, current_database() as database,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as server,
         (select rolconnlimit from pg_roles where rolname = current_user) as "ofLogin",
         (select datconnlimit from pg_database where datname = current_database()) as "ofDatabase",
         used."onServer", used."byLogin", used."inDatabase"
  from (select count(*)::int as "onServer", count(*) filter (where usename = current_user)::int as "byLogin",
               count(*) filter (where datname = current_database())::int as "inDatabase"
        from pg_stat_activity where datid is not null and pid <> pg_backend_pid()) used`

interface Limits {
  readonly encoding: string
  readonly login: string
  readonly database: string
  readonly server: number
  /** -1: no limit. */
  readonly ofLogin: number
  readonly ofDatabase: number
  /** Connections that are open already. */
  readonly onServer: number
  readonly byLogin: number
  readonly inDatabase: number
}

/**
 * Rejects with what to do if this database, or the pooler before it, cannot serve a farm. Returns a warning if others use so
 * many connections that too few are free now: this is no reason to refuse, since in a rolling update the server that is
 * replaced still has its own.
 */
export async function demandFitness(pool: pg.Pool, connections: number): Promise<string | undefined> {
  const { rows } = await pool.query<Limits>(LIMITS)
  const [found] = rows
  if (found === undefined) return undefined
  if (found.encoding !== 'UTF8')
    throw new UnfitDatabaseError(
      `the database ${found.database} has the encoding ${found.encoding}, in which not every text can be stored: create one with \`create database … encoding 'UTF8' template template0\` and set DATABASE_URL to it`,
    )
  const limits = [
    { limit: found.server, used: found.onServer, of: 'the server (max_connections)' },
    {
      limit: found.ofLogin,
      used: found.byLogin,
      of: `the login ${found.login} (alter role … connection limit)`,
    },
    {
      limit: found.ofDatabase,
      used: found.inDatabase,
      of: `the database ${found.database} (alter database … connection limit)`,
    },
  ].filter(({ limit }) => limit >= 0)
  const [least] = limits.toSorted((a, b) => a.limit - b.limit)
  if (least !== undefined && least.limit < connections)
    throw new UnfitDatabaseError(
      `a server needs ${connections} connections to Postgres (database.pool_server), and ${least.of} allows ${least.limit}: raise that limit, or lower database.pool_server`,
    )
  await demandTransactions(pool)
  const [fewest] = limits.toSorted((a, b) => a.limit - a.used - (b.limit - b.used))
  return fewest !== undefined && fewest.limit - fewest.used < connections
    ? `a server takes up to ${connections} connections to Postgres (database.pool_server), and ${fewest.of} allows ${fewest.limit}, of which ${fewest.used} are in use: if the others stay, raise that limit, or lower database.pool_server`
    : undefined
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
