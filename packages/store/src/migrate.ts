import { Kysely, PostgresDialect } from 'kysely'
import { Migrator } from 'kysely/migration'
import { openPool } from './connection.ts'
import { MIGRATIONS } from './migrations/index.ts'

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
    const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } })
    const { error, results } = await migrator.migrateToLatest()
    if (error !== undefined) throw new Error('the database could not be migrated', { cause: error })
    return { applied: (results ?? []).map((result) => result.migrationName) }
  } finally {
    await db.destroy()
  }
}
