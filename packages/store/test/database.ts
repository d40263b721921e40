import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '@scanfarm/testing'
import pg from 'pg'
import { migrate } from '../src/migrate.ts'
import { openRunStore, type WorkerStore } from '../src/run-store/open-run-store.ts'
import { openStore, type Store } from '../src/store.ts'

export interface OpenDatabase {
  readonly url: string
  /** Runs a statement as the superuser. */
  sql<R extends pg.QueryResultRow = Record<string, unknown>>(
    text: string,
    values?: unknown[],
  ): Promise<pg.QueryResult<R>>
  [Symbol.asyncDispose](): Promise<void>
}

export interface TestDatabase extends OpenDatabase {
  readonly store: Store
  /** The store of a worker, with its own pool. */
  readonly runStore: WorkerStore
}

const serverUrl = (): string => {
  const url = process.env['SCANFARM_TEST_DATABASE_URL']
  if (!url) {
    throw new Error(
      'set SCANFARM_TEST_DATABASE_URL to the superuser URL of a Postgres server for tests (npm test does)',
    )
  }
  return url
}

const withDatabase = (url: string, database: string): string => {
  const parsed = new URL(url)
  parsed.pathname = `/${database}`
  return parsed.href
}

/** A connection as the superuser of the test server. */
export async function connectSuperuser(url = serverUrl()): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

/** Of the test server and of the databases made here, by URL: to connect takes as long as a dozen statements. */
const pools = new Map<string, pg.Pool>()

const keepConnections = (url: string): pg.Pool => {
  const pool = new pg.Pool({ connectionString: url, max: 50, allowExitOnIdle: true })
  // The next statement reports a connection that the server has closed.
  pool.on('error', () => undefined)
  pools.set(url, pool)
  return pool
}

/** Runs statements as the superuser, in a session without settings, locks and temporary tables of earlier ones. */
export async function asSuperuser<T>(
  work: (client: pg.ClientBase) => Promise<T>,
  url = serverUrl(),
): Promise<T> {
  const pool = pools.get(url) ?? (url === serverUrl() ? keepConnections(url) : undefined)
  if (pool === undefined) {
    await using client = await connectSuperuser(url)
    return await work(client)
  }
  const client = await pool.connect()
  try {
    return await work(client)
  } finally {
    // Postgres refuses this in a transaction that is still open: the connection is closed then.
    const clean = await client.query('discard all').then(
      () => true,
      () => false,
    )
    client.release(!clean)
  }
}

/** Waits until all transactions that are open now have ended, of other databases too: then events are counted. */
export const openTransactionsEnded = (url: string): Promise<unknown> =>
  asSuperuser(async (client) => {
    const { rows } = await client.query<{ now: string }>('select pg_current_xact_id()::text as now')
    const passed = `select from (select) one where pg_snapshot_xmin(pg_current_snapshot()) > '${rows[0]?.now}'::xid8`
    return await until(async () => (await client.query(passed)).rowCount === 1)
  }, url)

/** The name changes with the SQL files and with `migrate.ts`, so that a stale template is never used. */
const findTemplateName = async (): Promise<string> => {
  const hash = createHash('sha256')
  const folder = fileURLToPath(new URL('../', import.meta.url))
  const sql = (await readdir(join(folder, 'sql'), { recursive: true })).filter((path) =>
    path.endsWith('.sql'),
  )
  for (const path of [...sql.sort().map((file) => join('sql', file)), 'src/migrate.ts'])
    hash.update(path).update(await readFile(join(folder, path)))
  return `scanfarm_template_${hash.digest('hex').slice(0, 16)}`
}

let templateName: Promise<string> | undefined

const exists = async (client: pg.ClientBase, database: string): Promise<boolean> =>
  (await client.query('select from pg_database where datname = $1', [database])).rowCount === 1

/** The migrated template, created once for all under an advisory lock. It gets its name when complete. */
const ensureTemplate = async (client: pg.ClientBase): Promise<string> => {
  const name = await (templateName ??= findTemplateName())
  await client.query("select pg_advisory_lock(hashtext('scanfarm test template'))")
  try {
    if (await exists(client, name)) return name
    const unfinished = `${name}_${randomBytes(4).toString('hex')}`
    await client.query(`create database ${unfinished}`)
    await migrate({ url: withDatabase(serverUrl(), unfinished) })
    await client.query(`alter database ${unfinished} rename to ${name}`)
    return name
  } finally {
    await client.query("select pg_advisory_unlock(hashtext('scanfarm test template'))")
  }
}

/** An empty database without a schema. */
export async function emptyDatabase(): Promise<OpenDatabase> {
  return createDatabase('template1')
}

const createDatabase = async (template: string | undefined): Promise<OpenDatabase> => {
  const name = `scanfarm_test_${randomBytes(6).toString('hex')}`
  await asSuperuser(async (client) => {
    const source = template ?? (await ensureTemplate(client))
    await client.query(`create database ${name} template ${source} strategy file_copy`)
  })
  const url = withDatabase(serverUrl(), name)
  const pool = keepConnections(url)
  return {
    url,
    sql: (text, values) => asSuperuser((client) => client.query(text, values), url),
    [Symbol.asyncDispose]: async () => {
      pools.delete(url)
      // It waits for open statements, which the drop ends.
      const closed = pool.end()
      await asSuperuser((client) => client.query(`drop database ${name} with (force)`))
      await closed
    },
  }
}

/** A new database, cloned from a migrated template: one for each test file. Dispose it in `afterAll`. */
export async function testDatabase(options: { poolSize?: number } = {}): Promise<TestDatabase> {
  const poolSize = options.poolSize ?? 10
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await createDatabase(undefined))
  const { url, sql } = database
  const store = stack.use(await openStore({ url, poolSize, applicationName: 'scanfarm test' }))
  const runStore = stack.use(
    await openRunStore({ url, poolSize: 2, applicationName: 'scanfarm test worker' }),
  )
  const open = stack.move()
  return { url, sql, store, runStore, [Symbol.asyncDispose]: () => open.disposeAsync() }
}
