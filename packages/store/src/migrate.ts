import { Kysely, PostgresDialect, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { openPool } from './connection.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { NewerDatabaseError } from './schema-version.ts'

/**
 * Brings the database to `schemaVersion` in one transaction. Safe when several programs start at once: they queue on a
 * lock and all but the first find nothing to do.
 */
export async function migrate(options: { url: string }): Promise<{ applied: string[] }> {
  const pool = openPool({
    url: options.url,
    poolSize: 1,
    applicationName: 'scanfarm migrate',
    statementTimeoutMs: 0,
  })
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    await refuseNewer(db)
    const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } })
    const { error, results } = await migrator.migrateToLatest()
    if (error !== undefined) throw new Error('the database could not be migrated', { cause: error })
    return { applied: (results ?? []).map((result) => result.migrationName) }
  } finally {
    await db.destroy()
  }
}

/** The migrator calls a database corrupted whose migrations it does not know. */
const refuseNewer = async (db: Kysely<unknown>): Promise<void> => {
  const { rows: tables } = await sql<{ there: boolean }>`
    select to_regclass('kysely_migration') is not null as there
  `.execute(db)
  if (tables[0]?.there !== true) return
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name desc`.execute(
    db,
  )
  const newest = rows.find(({ name }) => !Object.hasOwn(MIGRATIONS, name))
  if (newest !== undefined) throw new NewerDatabaseError(newest.name, await lastVersion(db))
}

/** A newer schema may keep it elsewhere. */
const lastVersion = async (db: Kysely<unknown>): Promise<string | undefined> => {
  try {
    const { rows } = await sql<{ version: string }>`
      select version from workers where version <> '' order by joined_at desc limit 1
    `.execute(db)
    return rows[0]?.version
  } catch {
    return undefined
  }
}
