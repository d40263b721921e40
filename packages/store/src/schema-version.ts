/**
 * The files of `sql/schema` in order, without `.sql`. A released file never changes: write the next one. The first six
 * contain what 38 files between them and `OLDEST` changed.
 */
export const SCHEMA_FILES: readonly string[] = [
  '0001-cloud',
  '0002-runs',
  '0003-records',
  '0004-access',
  '0005-findings',
  '0006-triggers',
  '0045-page-hashes',
  '0046-silent-places',
  '0047-deliveries-by-receiver',
  '0048-not-tested',
  '0049-limits-of-many-runs',
  '0050-names-of-functions',
  '0051-tested-later',
  '0052-reasons-then',
]

/** Name of the newest schema file that this program knows. */
export const schemaVersion: string = SCHEMA_FILES.at(-1) ?? ''

/** A database is upgraded if it has this file, or is new. */
export const OLDEST = '0045-page-hashes'
/** The last commit that upgrades older databases. */
const UPGRADES_OLDER = '18aa7000'

/** The database, or the pooler before it, cannot serve a farm. */
export class UnfitDatabaseError extends Error {
  override readonly name = 'UnfitDatabaseError'
}

/** The schema of the database is not the one that this program works with. */
export class SchemaError extends Error {
  override readonly name: string = 'SchemaError'
  /** Name of the newest schema file in the database; undefined: it was never migrated. */
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

/** The database was made by an unreleased version and not upgraded in time. */
export class OlderDatabaseError extends SchemaError {
  override readonly name = 'OlderDatabaseError'

  constructor(found: string | undefined) {
    super(
      found,
      `the schema of the database is ${found ?? 'that of an unreleased Scanfarm'}, this program upgrades from ${OLDEST} on: ` +
        `first run \`scanfarm migrate\` of the commit ${UPGRADES_OLDER}, or start with an empty database`,
    )
  }
}

/** The database has schema files that this program does not know. */
export class NewerDatabaseError extends SchemaError {
  override readonly name = 'NewerDatabaseError'

  /** `usedBy`: version of the program that joined the farm last. */
  constructor(found: string, usedBy?: string) {
    const user = usedBy === undefined ? '' : `; version ${usedBy} joined the farm last`
    super(
      found,
      `the database was migrated by a newer Scanfarm: its schema is ${found}, this program knows ${schemaVersion}${user}. ` +
        'Install that newer version, or restore a backup from before its upgrade',
    )
  }
}

/** Throws a `SchemaError` unless `found` (undefined: never migrated) is the schema that this program works with. */
export function demandSchema(found: string | undefined): void {
  if (found === schemaVersion) return
  const isNewer = found !== undefined && found > schemaVersion
  throw isNewer ? new NewerDatabaseError(found) : new SchemaError(found)
}
