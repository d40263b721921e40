import { MIGRATIONS } from './migrations/index.ts'

/** Name of the newest migration that this program knows. */
export const schemaVersion: string = Object.keys(MIGRATIONS).sort().at(-1) ?? ''

/** The schema of the database is not the one that this program works with. */
export class SchemaError extends Error {
  override readonly name: string = 'SchemaError'
  /** Name of the newest migration in the database; undefined: it was never migrated. */
  readonly found: string | undefined

  constructor(found: string | undefined, message?: string) {
    super(
      message ??
        (found === undefined
          ? 'the database has no Scanfarm schema yet: start a server, or run `scanfarm migrate`'
          : `the database schema is ${found}, this program needs ${schemaVersion}: start a server of this version, or run \`scanfarm migrate\``),
    )
    this.found = found
  }
}

/** The database has migrations that this program does not know. */
export class NewerDatabaseError extends SchemaError {
  override readonly name = 'NewerDatabaseError'

  /** `usedBy`: version of the program that joined the farm last. */
  constructor(found: string, usedBy?: string) {
    const user = usedBy === undefined ? '' : `; version ${usedBy} joined the farm last`
    super(
      found,
      `the database was migrated by a newer Scanfarm: its schema is ${found}, this program knows ${schemaVersion}${user}. ` +
        'Install the version that did so, or a newer one, or restore a backup from before the upgrade',
    )
  }
}

/** Throws a `SchemaError` unless `found` (undefined: never migrated) is the schema that this program works with. */
export function demandSchema(found: string | undefined): void {
  if (found === schemaVersion) return
  if (found !== undefined && !Object.hasOwn(MIGRATIONS, found)) throw new NewerDatabaseError(found)
  throw new SchemaError(found)
}
