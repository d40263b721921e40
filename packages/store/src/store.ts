import { listen } from '@scanfarm/platform/postgres'
import { Kysely, PostgresDialect, sql } from 'kysely'
import {
  openPool,
  STATEMENT_TIMEOUT_MS,
  type ConnectionOptions,
  type StoreLog,
} from './database/connection.ts'
import { makeAccess } from './access/access.ts'
import { makeAudit } from './access/audit.ts'
import { makeAssets } from './assets/assets.ts'
import { makeEvents } from './events/events.ts'
import { makeFeed } from './events/feed.ts'
import { makeFarm } from './farm.ts'
import { makeFigures } from './figures.ts'
import { makeHosts } from './assets/hosts.ts'
import { makeEnrichment } from './findings/enrichment.ts'
import { makeRules } from './findings/rules.ts'
import { makeScans } from './findings/scans.ts'
import { makeNamed } from './findings/named.ts'
import { makeSavedFilters } from './findings/saved-filters.ts'
import { makeTriage } from './findings/triage.ts'
import { makeVulnerabilities } from './findings/vulnerabilities.ts'
import { makeHistory } from './history/history.ts'
import { createCloudStore } from './cloud/cloud-store.ts'
import { makeDelta } from './jobs/delta.ts'
import { makeNights } from './jobs/nights.ts'
import { makeIdempotency } from './jobs/idempotency.ts'
import { makeJobs } from './jobs/jobs.ts'
import { makeOutbox } from './runs/outbox.ts'
import { makeRecovery } from './runs/recovery.ts'
import { makeReports } from './reports.ts'
import { makeRetention } from './database/retention.ts'
import { guarded as guardedBy } from './database/retry.ts'
import { makeRunStore } from './run-store/make-run-store.ts'
import { DEFAULT_OUTAGE_MS, newSecret } from './run-store/open-run-store.ts'
import { makeLimits } from './limits.ts'
import { makeScopes } from './scopes.ts'
import { makeShares } from './jobs/shares.ts'
import { makeRuns } from './runs/runs.ts'
import { demandSchema } from './schema-version.ts'
import { makeSchedules } from './triggers/schedules.ts'
import { makeTriggers } from './triggers/triggers.ts'
import type { LoginPolicy } from './access/logins.ts'
import { makeWebhooks } from './webhooks/webhooks.ts'
import { makeTraffic } from './traffic.ts'
import { makeTotals } from './totals.ts'
import { makeUnusedRows } from './database/unused-rows.ts'
import { makeWorkers } from './workers.ts'
import { makeWorkflows } from './workflows.ts'
import { makeOrgs } from './workspaces/orgs.ts'
import { makeWorkspaces } from './workspaces/workspaces.ts'
import type { Tables } from './tables.ts'

/** Notifies masters that there is work. */
const CHANNEL = 'scanfarm_masters'

export interface StoreOptions extends ConnectionOptions {
  readonly log?: StoreLog
  /** Without a pooler, for notifications; default `url`. */
  readonly directUrl?: string
  /** How long `runStore` retries while the database is unreachable; default 10 minutes. Other calls reject at once. */
  readonly outageMs?: number
  /** After how many failures a login has to wait, and the longest wait. */
  readonly logins?: LoginPolicy
}

/** Maintenance statements may take this many times the statement timeout of requests. */
const UPKEEP_FACTOR = 10
const UPKEEP_POOL = 2
/** Connections of a server besides those of requests: upkeep, notifications, and three of a queue in Postgres. */
export const OTHER_CONNECTIONS = UPKEEP_POOL + 1 + 3

/** Opens a migrated database for a master. Connects on demand; `check` reports whether that works. */
export async function openStore(options: StoreOptions) {
  const closing = new AbortController()
  const pool = openPool(options, options.log)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const statementTimeoutMs = (options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS) * UPKEEP_FACTOR
  const upkeepPool = openPool({ ...options, poolSize: UPKEEP_POOL, statementTimeoutMs }, options.log)
  const upkeep = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: upkeepPool }) })
  const guarded = <T extends object>(group: T): T => guardedBy(group, options.log)
  const totals = makeTotals()
  const outageMs = options.outageMs ?? DEFAULT_OUTAGE_MS
  const farm = guarded({
    ...makeFarm(db),
    /** Rejects if the database cannot be reached, or has another schema than this program needs. */
    check: () => check(db),
    /** Creates partitions of steps and event_logs before they are needed, and drops unused ones. Call it periodically. */
    maintain: () => maintain(upkeep),
  })
  return {
    jobs: guarded(makeJobs(db, upkeep, totals)),
    runs: guarded(makeRuns(db, totals)),
    outbox: guarded(makeOutbox(db)),
    recovery: guarded(makeRecovery(db, upkeep)),
    workers: guarded(makeWorkers(db)),
    /** What waits, counts by minute and the figures of the whole farm. */
    figures: guarded(makeFigures(db, totals)),
    workflows: guarded(makeWorkflows(db)),
    events: guarded(makeEvents(db, totals)),
    triage: guarded(makeTriage(db, totals)),
    named: guarded(makeNamed(db)),
    savedFilters: guarded(makeSavedFilters(db)),
    vulnerabilities: guarded(makeVulnerabilities(db, totals)),
    assets: guarded(makeAssets(db, totals)),
    /** What scans know of one name or address. */
    hosts: guarded(makeHosts(db)),
    /** Rules that decide about findings. */
    rules: guarded(makeRules(db, upkeep)),
    /** Files about CVEs. */
    enrichment: guarded(makeEnrichment(db, upkeep)),
    /** The jobs of schedules, and what they changed. */
    nights: guarded(makeNights(db)),
    reports: guarded(makeReports(db)),
    /** Scopes, the never-scan list and what they refused. */
    scopes: guarded(makeScopes(db, upkeep)),
    shares: guarded(makeShares(db)),
    /** What jobs of mode delta run. */
    delta: guarded(makeDelta(db)),
    limits: guarded(makeLimits(db)),
    traffic: guarded(makeTraffic(db)),
    scans: guarded(makeScans(db, upkeep)),
    workspaces: guarded(makeWorkspaces(db, totals)),
    orgs: guarded(makeOrgs(db, totals)),
    /** The event log as a stream. */
    feed: guarded(makeFeed(db)),
    triggers: guarded(makeTriggers(db)),
    schedules: guarded(makeSchedules(db)),
    webhooks: guarded(makeWebhooks(db)),
    /** Infrastructures of cloud mode and their machines. */
    cloud: guarded(createCloudStore(db)),
    access: guarded(makeAccess(db, options.logins)),
    /** Who changed what. */
    audit: guarded(makeAudit(db, totals)),
    idempotency: guarded(makeIdempotency(db)),
    retention: guarded({ ...makeRetention(upkeep), ...makeUnusedRows(upkeep) }),
    /** Imported history. */
    history: guarded(makeHistory(upkeep)),
    /** For the local and cloud slots of a master. */
    runStore: makeRunStore(pool, { outageMs, signal: closing.signal, log: options.log }, newSecret()),
    ...farm,
    /** Calls back for each notification to masters; reconnects by itself. Notifications are hints: always poll as well. */
    listen: async (onNotify: () => void): Promise<AsyncDisposable> => {
      const listening = await listen({
        url: options.directUrl ?? options.url,
        applicationName: `${options.applicationName} listener`,
        channels: { [CHANNEL]: onNotify },
        mayStartLate: true,
        onBack: onNotify,
        log: options.log,
      })
      onNotify()
      return listening
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      closing.abort(new Error('the store is closed'))
      await Promise.all([db.destroy(), upkeep.destroy()])
    },
  }
}

export type Store = Awaited<ReturnType<typeof openStore>>

const check = async (db: Kysely<Tables>): Promise<void> => {
  const { rows } = await sql<{ there: boolean }>`
    select to_regclass('schema_files') is not null as there`.execute(db)
  const newest =
    rows[0]?.there === true
      ? await sql<{ name: string }>`select name from schema_files order by name desc limit 1`.execute(db)
      : undefined
  demandSchema(newest?.rows[0]?.name)
}

const maintain = async (db: Kysely<Tables>): Promise<void> => {
  await sql`select keep_all_partitions_ahead() from acquire_lock('partitions')`.execute(db)
  await sql`select drop_unused_partitions(null)`.execute(db)
}
