import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type pg from 'pg'
import { openPool } from './database/connection.ts'
import { demandFitness } from './database/fitness.ts'
import {
  NewerDatabaseError,
  OLDEST,
  OlderDatabaseError,
  SCHEMA_FILES,
  SchemaError,
  schemaVersion,
} from './schema-version.ts'

const SQL = join(import.meta.dirname, '../sql')
const GRANTS = 'grants'
const INVALID_FUNCTION_DEFINITION = '42P13'

const JOINED_BY_HASH =
  'set enable_seqscan = off set enable_hashjoin = on set enable_nestloop = off set enable_mergejoin = off set jit = off'
const BY_INDEX =
  'set enable_seqscan = off set enable_hashjoin = off set enable_nestloop = on set enable_mergejoin = off set jit = off'
/** What a line `-- planner: NAME` of a function stands for. `sql/README.md` says when to use which. */
const PLANNER: Readonly<Record<string, string>> = {
  batch: `${JOINED_BY_HASH} set plan_cache_mode = force_generic_plan`,
  walk: BY_INDEX,
  backlog: `${BY_INDEX} set enable_bitmapscan = off`,
  lookup: 'set enable_seqscan = off set jit = off',
  read: 'set jit = off',
}

interface SqlFile {
  /** For a function, its name in Postgres. */
  readonly name: string
  readonly text: string
  readonly hash: string
}

/** The record in the database: names of schema files, and the hash of each function and of the grants. */
interface Applied {
  readonly schema: readonly string[]
  readonly hashes: Readonly<Record<string, string>>
}

/**
 * Brings the database to the SQL of this program in one transaction: new schema files, changed functions, then grants.
 * Safe when several programs start at once: they queue on a lock, and all but the first find nothing to do. Returns the
 * names of the schema files it applied; if there were none, of the functions. `connections`: as many as the server needs.
 * `warn` gets what the server should know and can live with.
 */
export async function migrate(options: {
  url: string
  connections?: number
  warn?: (message: string) => void
}): Promise<{ applied: string[] }> {
  const pool = openPool({
    url: options.url,
    poolSize: 1,
    applicationName: 'scanfarm migrate',
    statementTimeoutMs: 0,
  })
  try {
    const warning = await demandFitness(pool, options.connections ?? 1)
    if (warning !== undefined) options.warn?.(warning)
    const [functions, grants] = await Promise.all([readFunctions(), readSql(GRANTS, 'grants.sql')])
    const found = await readApplied(pool)
    if (found !== undefined && isUpToDate(found, [...functions, grants])) return { applied: [] }
    const client = await pool.connect()
    try {
      return { applied: await inTransaction(client, () => bringUp(client, functions, grants)) }
    } finally {
      client.release()
    }
  } finally {
    await pool.end()
  }
}

const readSql = async (name: string, path: string): Promise<SqlFile> => {
  const written = await readFile(join(SQL, path), 'utf8')
  const text = written.replace(/^-- planner: (.+)$/m, (_line, planner: string) => {
    const settings = PLANNER[planner]
    if (settings !== undefined) return settings
    throw new Error(`sql/${path}: there is no planner ${planner}: write ${Object.keys(PLANNER).join(', ')}`)
  })
  return { name, text, hash: createHash('sha256').update(text).digest('hex') }
}

/** Functions in the folder `worker` are those of the schema `worker`; the others are in `public`. */
const readFunctions = async (): Promise<SqlFile[]> => {
  const paths = await readdir(join(SQL, 'functions'), { recursive: true })
  const names = paths.filter((path) => path.endsWith('.sql')).sort()
  return Promise.all(
    names.map((path) =>
      readSql(
        `${path.startsWith('worker/') ? 'worker.' : ''}${basename(path, '.sql')}`,
        join('functions', path),
      ),
    ),
  )
}

/**
 * Undefined: the database has no record of schema files. It asks pg_class, because `to_regclass` goes on to answer from
 * a connection's cache, within one transaction, after another program has created the table.
 */
const readApplied = async (db: pg.Pool | pg.PoolClient): Promise<Applied | undefined> => {
  const { rows } = await db.query(
    `select from pg_class where relname = 'schema_files' and relnamespace = current_schema()::regnamespace`,
  )
  if (rows.length === 0) return undefined
  const found = await db.query<Applied>(`
    select array(select name from schema_files order by name) as schema,
           (select coalesce(json_object_agg(name, hash), '{}') from schema_functions) as hashes`)
  return found.rows[0]
}

const isUpToDate = (found: Applied, files: readonly SqlFile[]): boolean =>
  found.schema.at(-1) === SCHEMA_FILES.at(-1) &&
  Object.keys(found.hashes).length === files.length &&
  files.every(({ name, hash }) => found.hashes[name] === hash)

const inTransaction = async <T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> => {
  await client.query('begin')
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    if (error instanceof SchemaError) throw error
    throw new Error('the database could not be migrated', { cause: error })
  }
}

const bringUp = async (
  client: pg.PoolClient,
  functions: readonly SqlFile[],
  grants: SqlFile,
): Promise<string[]> => {
  await lockMigration(client)
  // Functions are created before the tables and functions that their bodies name.
  await client.query('set local check_function_bodies = off')
  const found = (await readApplied(client)) ?? (await startRecord(client))
  const newest = found.schema.at(-1)
  if (newest !== undefined && newest > schemaVersion)
    throw new NewerDatabaseError(newest, await lastVersion(client))
  if (newest !== undefined && !found.schema.includes(OLDEST)) throw new OlderDatabaseError(newest)

  const pending = SCHEMA_FILES.filter((name) => !found.schema.includes(name))
  for (const name of pending) await applySchema(client, name, functions)
  const changed = functions.filter(({ name, hash }) => found.hashes[name] !== hash)
  await applyFunctions(client, changed)
  const gone = Object.keys(found.hashes).filter(
    (name) => name !== GRANTS && !functions.some((file) => file.name === name),
  )
  const signatures = await readSignatures(client)
  for (const name of gone) await dropFunctions(client, signatures.get(name) ?? [])
  if (changed.length > 0 || found.hashes[GRANTS] !== grants.hash) await client.query(grants.text)
  await record(client, [...functions, grants])
  return pending.length > 0 ? pending : [...changed.map(({ name }) => name), ...gone]
}

/**
 * One migration at a time. Every login of the database could hold an advisory lock, so it only guards the first
 * migration, which makes the table that the later ones lock.
 */
const lockMigration = async (client: pg.PoolClient): Promise<void> => {
  if ((await readApplied(client)) === undefined)
    await client.query(`select pg_advisory_xact_lock(hashtext('scanfarm migration'))`)
  if ((await readApplied(client)) !== undefined)
    await client.query('lock table schema_files in share row exclusive mode')
}

const startRecord = async (client: pg.PoolClient): Promise<Applied> => {
  const { rows: older } = await client.query(
    `select from pg_class where oid = to_regclass('kysely_migration')`,
  )
  if (older.length > 0) throw new OlderDatabaseError(undefined)
  await client.query(`
    create table schema_files (name text collate "C" primary key, applied_at timestamptz not null default now());
    create table schema_functions (name text collate "C" primary key, hash text not null)`)
  return { schema: [], hashes: {} }
}

/** The first line of a schema file may name functions that it needs: `-- requires: a, b`. */
const applySchema = async (
  client: pg.PoolClient,
  name: string,
  functions: readonly SqlFile[],
): Promise<void> => {
  const { text } = await readSql(name, join('schema', `${name}.sql`))
  const required = /^-- requires: (.+)/.exec(text)?.[1]?.split(', ') ?? []
  const missing = required.filter((one) => !functions.some((file) => file.name === one))
  if (missing.length > 0)
    throw new Error(
      `the first line of sql/schema/${name}.sql requires functions without a file in sql/functions: ${missing.join(', ')}`,
    )
  await applyFunctions(
    client,
    functions.filter((file) => required.includes(file.name)),
  )
  await client.query(text)
  await client.query('insert into schema_files (name) values ($1)', [name])
}

/** Creates new functions in one call, and replaces existing ones one by one. */
const applyFunctions = async (client: pg.PoolClient, files: readonly SqlFile[]): Promise<void> => {
  const existing = await readSignatures(client)
  const created = files.filter(({ name }) => !existing.has(name))
  await client.query(created.map(({ text }) => text).join('\n'))
  for (const file of files) {
    const before = existing.get(file.name)
    if (before !== undefined) await replaceFunction(client, file, before)
  }
}

/** Drops the function first if its arguments or its result have changed: a name has one function. */
const replaceFunction = async (
  client: pg.PoolClient,
  { name, text }: SqlFile,
  before: readonly string[],
): Promise<void> => {
  await client.query('savepoint before_function')
  const isReplaced = await client.query(text).then(
    async () => before.length === 1 && (await readSignatures(client)).get(name)?.length === 1,
    (error: unknown) => {
      if (Error.isError(error) && 'code' in error && error.code === INVALID_FUNCTION_DEFINITION) return false
      throw error
    },
  )
  if (isReplaced) return
  await client.query('rollback to before_function')
  await dropFunctions(client, before)
  await client.query(text)
}

const dropFunctions = async (client: pg.PoolClient, signatures: readonly string[]): Promise<void> => {
  for (const signature of signatures) await client.query(`drop function ${signature}`)
}

/** The functions in the database: name → signatures. */
const readSignatures = async (client: pg.PoolClient): Promise<Map<string, string[]>> => {
  const { rows } = await client.query<{ name: string; signatures: string[] }>(`
    select case pronamespace when 'public'::regnamespace then '' else 'worker.' end || proname as name,
           array_agg(oid::regprocedure::text) as signatures
    from pg_proc where pronamespace in (to_regnamespace('public'), to_regnamespace('worker')) group by 1`)
  return new Map(rows.map(({ name, signatures }) => [name, signatures]))
}

const record = async (client: pg.PoolClient, files: readonly SqlFile[]): Promise<void> => {
  await client.query('delete from schema_functions')
  await client.query(
    'insert into schema_functions (name, hash) select * from unnest($1::text[], $2::text[])',
    [files.map(({ name }) => name), files.map(({ hash }) => hash)],
  )
}

/** Version of the program that joined the farm last; undefined if a newer schema stores it elsewhere. */
const lastVersion = async (client: pg.PoolClient): Promise<string | undefined> => {
  try {
    const { rows } = await client.query<{ version: string }>(
      `select version from workers where version <> '' order by joined_at desc limit 1`,
    )
    return rows[0]?.version
  } catch {
    return undefined
  }
}
