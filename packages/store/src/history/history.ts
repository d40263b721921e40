import type {
  Artifact,
  AssetContent,
  FindingContent,
  Priority,
  StepRecord,
  WorkflowKind,
} from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely'
import { storable, storableJson } from '../text.ts'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

/** Marks imported records. */
export const IMPORTED = 'import-base'

const IS_IMPORTED = sql`facts ->> 'imported' = ${IMPORTED}`

/** A step of an imported run. Times are ISO 8601. */
export type PastStep = Omit<StepRecord, 'status' | 'module' | 'exitCode' | 'logFile' | 'takenFrom'> & {
  readonly status: 'completed' | 'failed' | 'skipped' | 'cancelled'
}

type StepOfRun = PastStep & { readonly runUuid: string }

/** An ended run to be imported. Runs with the same `jobId` are one job. */
export interface PastRun {
  readonly runUuid: string
  /** 16 hex characters. */
  readonly jobId: string
  readonly workflowName: string
  readonly workflowKind: WorkflowKind
  /** The workflow that a copy of the run executes, as in `JobDraft`. */
  readonly workflow: { readonly hash: string; readonly json: string }
  readonly target: string
  readonly workspace: string
  readonly params: Readonly<Record<string, string>>
  readonly priority: Priority
  readonly triggerName: string
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly errorMessage: string
  readonly totalSteps: number
  readonly completedSteps: number
  readonly createdAt: string
  readonly startedAt: string | null
  readonly completedAt: string
}

/** An artifact whose bytes are in the artifact store. */
export type PastArtifact = Pick<
  Artifact,
  | 'id'
  | 'name'
  | 'artifact_path'
  | 'artifact_type'
  | 'content_type'
  | 'size_bytes'
  | 'line_count'
  | 'description'
> & { readonly storeKey: string; readonly sha256: string }

export interface PastRecord<Content> {
  readonly content: Content
  readonly firstSeen: string
  readonly lastSeen: string
}

/**
 * Imports runs, steps, findings and artifacts of another installation, without events, triggers or queue messages. Records
 * that exist are not changed, so an import can be repeated. Each call is one transaction.
 */
export const makeHistory = (db: Kysely<Tables>) => ({
  /** Resolves to the number of new runs. */
  addRuns: (runs: readonly PastRun[]): Promise<number> => quietly(db, (tx) => addRuns(tx, runs)),
  /** Ignores steps of runs that were not imported. */
  addSteps: (steps: readonly StepOfRun[]): Promise<number> => quietly(db, (tx) => addSteps(tx, steps)),
  addVulnerabilities: (workspace: string, records: readonly PastRecord<FindingContent>[]): Promise<number> =>
    add(db, vulnerabilities(storable(workspace), rowsOf(records))),
  addAssets: (workspace: string, records: readonly PastRecord<AssetContent>[]): Promise<number> =>
    add(db, assets(storable(workspace), rowsOf(records))),
  /** Those of the runs that exist, imported or not. */
  async knownRuns(uuids: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await sql<{ id: string }>`
      select run_uuid as id from runs where run_uuid = any(${uuids}::uuid[])`.execute(db)
    return new Set(rows.map(({ id }) => id))
  },
  /** The last ended imported run of a workspace. */
  async newestRun(workspace: string): Promise<string | undefined> {
    return await firstValue<string | undefined>(db, undefined)`
      select run_uuid as id from runs where workspace = ${workspace} and ${IS_IMPORTED}
      order by completed_at desc, id desc limit 1`
  },
  /** Those of the artifacts that belong to a run of the workspace. */
  async knownArtifacts(workspace: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await sql<{ id: string }>`
      select a.id from runs r join artifacts a on a.run_id = r.id
      where r.workspace = ${workspace} and a.id = any(${ids}::uuid[])`.execute(db)
    return new Set(rows.map(({ id }) => id))
  },
  addArtifacts: (runUuid: string, artifacts: readonly PastArtifact[]): Promise<number> =>
    add(
      db,
      sql`insert into artifacts (run_id, attempt, id, name, path, type, content_type, size_bytes, line_count,
            description, store_key, sha256)
          select r.id, r.attempt, i.id, i.name, i.artifact_path, i.artifact_type, i.content_type, i.size_bytes, i.line_count,
                 i.description, i."storeKey", i.sha256
          from runs r, jsonb_to_recordset(${storableJson(artifacts)}::jsonb) as i(id uuid, name text, artifact_path text,
            artifact_type text, content_type text, size_bytes bigint, line_count bigint, description text,
            "storeKey" text, sha256 text)
          where r.run_uuid = ${runUuid}
          on conflict do nothing returning 1`,
    ),
})

export type History = ReturnType<typeof makeHistory>

type Tx = Transaction<Tables>

/** In a transaction that writes no events for steps. */
const quietly = <T>(db: Kysely<Tables>, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (tx) => {
    await sql`select set_config('scanfarm.history', 'on', true)`.execute(tx)
    return await work(tx)
  })

/** How many rows an insert returned. */
const add = async (db: Kysely<Tables>, insert: RawBuilder<unknown>): Promise<number> =>
  (await insert.execute(db)).rows.length

const addRuns = async (tx: Tx, runs: readonly PastRun[]): Promise<number> => {
  const rows = storableJson(runs)
  const RUNS = sql`jsonb_to_recordset(${rows}::jsonb) as i("runUuid" uuid, "jobId" text, "workflowName" text,
    "workflowKind" text, workflow jsonb, target text, workspace text, params jsonb, priority text, "triggerName" text,
    status text, "errorMessage" text, "totalSteps" int, "completedSteps" int, "createdAt" timestamptz,
    "startedAt" timestamptz, "completedAt" timestamptz)`
  await sql`insert into pinned_workflows (hash, json)
    select distinct i.workflow ->> 'hash', i.workflow ->> 'json' from ${RUNS} on conflict do nothing`.execute(
    tx,
  )
  await sql`insert into jobs (job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
      runner_given, docker_image, ssh_host, requirement_class, trigger_type, trigger_name, schedule_id, event_envelope,
      starts, target_count, created_at)
    select distinct on (i."jobId") i."jobId", i."workflowName", i."workflowKind", i.workflow ->> 'hash', i.params,
      i.priority, 'local', 'host', false, '', '', '', 'manual', i."triggerName", '', '', false, 1, i."createdAt"
    from ${RUNS} order by i."jobId", i."createdAt" on conflict (job_id) do nothing`.execute(tx)
  const added = await sql<{ job_no: number }>`
    insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace, attempt, started_at,
      completed_at, total_steps, completed_steps, error_message, facts, created_at, updated_at)
    select i."runUuid", j.id, i."workflowName", 'local', i.status, i.target, i.workspace, 1, i."startedAt",
      i."completedAt", i."totalSteps", i."completedSteps", i."errorMessage",
      jsonb_build_object('imported', ${IMPORTED}::text), i."createdAt", i."completedAt"
    from ${RUNS} join jobs j on j.job_id = i."jobId"
    order by i."createdAt" on conflict (run_uuid) do nothing returning job_no`.execute(tx)
  await sql`update jobs j set target_count = (select count(*) from runs where job_no = j.id)
    where id = any(${[...new Set(added.rows.map((row) => row.job_no))]}::bigint[])`.execute(tx)
  return added.rows.length
}

const addSteps = (tx: Tx, steps: readonly StepOfRun[]): Promise<number> =>
  add(
    tx,
    sql`insert into steps (run_id, attempt, seq, id, name, type, module, status, command, output, error_message, exports,
          duration_ms, log_file, started_at, completed_at)
        select r.id, 1, i.seq, i.id, i.name, i.type, '', i.status, i.command, i.output, i."errorMessage", i.exports,
          i."durationMs", '', i."startedAt", i."completedAt"
        from jsonb_to_recordset(${storableJson(steps)}::jsonb) as i("runUuid" uuid, seq int, id uuid, name text, type text,
          status text, command text, output text, "errorMessage" text, exports jsonb, "durationMs" bigint,
          "startedAt" timestamptz, "completedAt" timestamptz)
        join runs r on r.run_uuid = i."runUuid" and r.${IS_IMPORTED}
        on conflict do nothing returning 1`,
  )

const rowsOf = (records: readonly { content: object; firstSeen: string; lastSeen: string }[]): string =>
  storableJson(records.map(({ content, firstSeen, lastSeen }) => ({ ...content, firstSeen, lastSeen })))

/** A record has been updated when it was seen last. */
const TIMES = sql`first_seen, opened_at, created_at, updated_at`
const TIMES_OF = sql`i."firstSeen", i."firstSeen", i."firstSeen", i."lastSeen"`

/** Records without what or where have no identity: they are known if one with the same content exists. */
const vulnerabilities = (workspace: string, rows: string) => sql`
  with items as materialized (
    select i.*, finding_hash(${workspace}, i.vuln_info, i.vuln_title, i.asset_value, i.asset_type, '') as hash
    from jsonb_to_recordset(${rows}::jsonb) as i(vuln_info text, vuln_title text, vuln_desc text, vuln_poc text, severity text,
      confidence text, asset_type text, asset_value text, tags jsonb, detail_http_request text,
      detail_http_response text, raw_vuln_json text, "firstSeen" timestamptz, "lastSeen" timestamptz)
  ), saved as (
  insert into vulnerabilities (workspace, vuln_info, vuln_title, vuln_desc, vuln_poc, severity, confidence, asset_type,
    asset_value, tags, detail_http_request, detail_http_response, raw_vuln_json, finding_hash, holds, source, ${TIMES})
  select ${workspace}, i.vuln_info, i.vuln_title, i.vuln_desc, i.vuln_poc, i.severity, i.confidence, i.asset_type,
    i.asset_value, text_array(i.tags), i.detail_http_request, i.detail_http_response, i.raw_vuln_json, i.hash,
    i.hash is not null, ${IMPORTED}, ${TIMES_OF}
  from (select distinct on (coalesce(hash, sha256(convert_to(to_jsonb(items)::text, 'UTF8')))) * from items
        order by coalesce(hash, sha256(convert_to(to_jsonb(items)::text, 'UTF8'))), "lastSeen" desc) i
  where i.hash is not null or not exists (
    select from vulnerabilities v
    where v.workspace = ${workspace} and v.source = ${IMPORTED} and not v.holds
      and (v.vuln_info, v.vuln_title, v.vuln_desc, v.severity, v.asset_value,
           restore_raw(v.raw_vuln_json, v.detail_http_request, v.detail_http_response))
        = (i.vuln_info, i.vuln_title, i.vuln_desc, i.severity, i.asset_value, i.raw_vuln_json))
  on conflict (finding_hash) where holds do nothing returning id, updated_at
  )
  insert into finding_sightings (finding_id, last_seen, times_seen, occurrences) select id, updated_at, 1, 1 from saved returning 1`

const assets = (workspace: string, rows: string) => sql`
  with items as materialized (
    select i.*, asset_hash(${workspace}, i.asset_value, i.url) as hash
    from jsonb_to_recordset(${rows}::jsonb) as i(asset_type text, asset_value text, url text, host_ip text, scheme text,
      status_code int, title text, content_type text, technologies jsonb, open_ports jsonb, dns_records jsonb,
      remarks jsonb, raw_json_data text, "firstSeen" timestamptz, "lastSeen" timestamptz)
  ), saved as (
  insert into assets (workspace, asset_type, asset_value, url, host_ip, scheme, status_code, title, content_type,
    technologies, open_ports, dns_records, remarks, raw_json_data, asset_hash, source, ${TIMES})
  select ${workspace}, i.asset_type, i.asset_value, i.url, i.host_ip, i.scheme, i.status_code, i.title, i.content_type,
    text_array(i.technologies), text_array(i.open_ports), text_array(i.dns_records), text_array(i.remarks), i.raw_json_data, i.hash,
    ${IMPORTED}, ${TIMES_OF}
  from (select distinct on (hash) * from items order by hash, "lastSeen" desc) i
  on conflict (asset_hash) do nothing returning id, updated_at
  )
  insert into asset_sightings (asset_id, last_seen, times_seen) select id, updated_at, 1 from saved returning 1`
