/** The files of `sql/schema` in order, without `.sql`. A released file never changes: write the next one. */
export const SCHEMA_FILES: readonly string[] = [
  '0001-cloud',
  '0002-runs',
  '0003-records',
  '0004-access',
  '0005-findings',
  '0006-triggers',
  '0007-names',
  '0008-submitting',
  '0009-log-follows',
  '0010-sessions',
  '0011-jobs',
  '0012-farm',
  '0013-triage',
  '0014-audit',
  '0015-finding-filters',
  '0016-tools',
  '0017-open-runs',
  '0018-revoked-logins',
  '0019-finding-identity',
  '0020-worker-secrets',
  '0021-sightings-apart',
  '0022-verdicts',
  '0023-ended-jobs',
  '0024-proof',
  '0025-job-schedules',
  '0026-scopes',
  '0027-drain-until',
  '0028-import-speed',
  '0029-finding-order',
  '0030-destinations',
  '0031-messages',
  '0032-reminders',
  '0033-resume',
  '0034-shares',
  '0036-enrichment',
  '0037-delta',
  '0038-enforcement',
  '0039-limits',
  '0040-spread',
  '0041-batches',
  '0042-enforcement-gap',
  '0043-twins',
  '0044-twins-by-target',
  '0045-page-hashes',
]

/** Name of the newest schema file that this program knows. */
export const schemaVersion: string = SCHEMA_FILES.at(-1) ?? ''

/**
 * Before `sql/schema`, the schema was the sum of 31 migrations, of which `newest` was the last. The first six schema
 * files create the same tables; `removedFunctions` have no file any more.
 */
export const PREVIOUS_LAYOUT = {
  newest: '0038-cancels-and-budget',
  migrations: 31,
  equals: SCHEMA_FILES.slice(0, 6),
  removedFunctions:
    'asking_provider counts_of demand_infra first_local fit_together foresee_infra give_runs hold_infra infra_for ' +
    'is_of_the_run json_inside keys_outside leave_instances make_infra note_sightings poke_finished poke_infra ' +
    'seek_machines short_raw take_infra take_runs takes_suspect tell_scheduled texts_of turn_of_reaper wait_aside ' +
    'wake_masters whole_raw worker.claim_local worker.set_aside_local',
}

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
  const isNewer = found !== undefined && found !== PREVIOUS_LAYOUT.newest && !SCHEMA_FILES.includes(found)
  throw isNewer ? new NewerDatabaseError(found) : new SchemaError(found)
}
