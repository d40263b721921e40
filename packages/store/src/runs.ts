import { randomBytes, randomUUID } from 'node:crypto'
import type {
  Artifact,
  Run,
  RunAttempt,
  RunDetail,
  RunOutcome,
  RunStatus,
  Step,
  StepStatus,
} from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { cloudChoice, newInfraId, refusing, type CloudChoice, type CloudFields } from './cloud/requests.ts'
import { decodeCursor, pageOf, readPage, ROW_BYTES, type PageOf, type PageRequest } from './page.ts'
import type { SortRequest } from './findings/sorted.ts'
import { countByStatus, listRuns, type RunFilter, type RunSort } from './run-list.ts'
import {
  artifactAt,
  listAllArtifacts,
  listStepResults,
  type ArtifactFilter,
  type StepResultFilter,
  type StoredArtifact,
} from './run-part-lists.ts'
import { runAttempts } from './run-attempts.ts'
import {
  byRef,
  keyOf,
  STEP_COLUMNS,
  toRunDetail,
  toStep,
  type RunDetailRow,
  type RunRef,
  type StepRow,
} from './run-rows.ts'
import { isUuid, storableJson } from './text.ts'
import { queuePlace, type QueuePlace } from './queue-place.ts'
import type { Totals } from './totals.ts'
import { waitingReasons } from './waiting-reason.ts'
import type { Tables } from './tables.ts'

export interface CancelRequest {
  readonly id: number
  readonly runUuid: string
  /** Status after the request: `cancelled` if the run was waiting, `running` until its worker ends it. */
  readonly status: RunStatus
  /** Status before the request. */
  readonly was: RunStatus
  readonly workerId: string
}

/** Where a log of a run stands: its own, or that of one of its steps. */
export interface LogState {
  readonly runId: number
  readonly runUuid: string
  readonly runStatus: RunStatus
  /** The latest attempt of the run. */
  readonly runAttempt: number
  /** The attempt of the log; the latest one for the log of the run. */
  readonly attempt: number
  /** Missing: the log of the run. */
  readonly step?: {
    readonly id: string
    readonly seq: number
    readonly status: StepStatus
    readonly exitCode: number | null
    /** The end of its output, at most 16 KiB. */
    readonly output: string
    /** Key of its complete log in the artifact store, or `""`. */
    readonly storeKey: string
  }
}
type Duplicate = { readonly originalRunUuid: string; readonly runUuid: string; readonly jobId: string }
type Started = { readonly started: boolean; readonly run: RunDetail }
export interface KnownRun {
  readonly id: number
  readonly runUuid: string
  readonly status: RunStatus
  readonly outcome: RunOutcome | ''
  readonly workerId: string
  readonly jobId: string
}
type CloudOfRun = { readonly fields: CloudFields; readonly requirementClass: string }

export const makeRuns = (db: Kysely<Tables>, totals: Totals) => ({
  list: (filter: RunFilter, page: SortRequest<RunSort>): Promise<PageOf<Run>> =>
    listRuns(db, totals, filter, page),
  find: (ref: RunRef): Promise<RunDetail | undefined> => findDetail(db, ref),
  /** Null: the run is not queued. Undefined for an unknown run. */
  queuePlace: async (ref: RunRef): Promise<QueuePlace | null | undefined> => {
    const row = await findRow(db, ref)
    return row && (row.status === 'queued' ? await queuePlace(db, totals, row) : null)
  },
  /** One page of the steps of the latest attempt, in order; undefined for an unknown run. */
  steps: (ref: RunRef, cursor?: string): Promise<PageOf<Step> | undefined> => steps(db, ref, cursor),
  /** Oldest first, at most 101; undefined for an unknown run. */
  attempts: (ref: RunRef): Promise<RunAttempt[] | undefined> => runAttempts(db, ref),
  artifacts: (ref: RunRef, cursor?: string): Promise<PageOf<Artifact> | undefined> =>
    artifacts(db, ref, cursor),
  artifact: (ref: RunRef, artifactId: string): Promise<StoredArtifact | undefined> =>
    artifact(db, ref, artifactId),
  /** The log of a run, or of a step of any attempt; undefined if there is no such run or step. */
  log: (ref: RunRef, stepId?: string): Promise<LogState | undefined> => logOf(db, ref, stepId),
  /** The same log at present; undefined once retention has removed the run. */
  logAgain: (state: LogState): Promise<LogState | undefined> => logAgain(db, state),
  /** The same step in the latest attempt of its run, if it has begun there. */
  logInLatest: (state: LogState): Promise<LogState | undefined> => logInLatest(db, state),
  /** The workers of these runs store live copies of their logs for this long. */
  followLogs: (runIds: readonly number[], ms: number): Promise<void> => followLogs(db, runIds, ms),
  /** Steps of the latest attempts of the newest runs, in the order of each run. */
  stepResults: (filter: StepResultFilter, page: PageRequest): Promise<PageOf<Step>> =>
    listStepResults(db, totals, filter, page),
  allArtifacts: (filter: ArtifactFilter, page: PageRequest): Promise<PageOf<StoredArtifact>> =>
    listAllArtifacts(db, totals, filter, page),
  /** The newest artifact of a workspace with this path below the folder of the workspace. */
  artifactAt: (workspace: string, path: string): Promise<StoredArtifact | undefined> =>
    artifactAt(db, workspace, path),
  counts: (): Promise<Partial<Record<RunStatus, number>>> => countByStatus(db, totals),
  /** Copies a run into a new job with one pending run. Undefined for an unknown run. */
  duplicate: (ref: RunRef): Promise<Duplicate | undefined> => duplicate(db, ref),
  /**
   * pending → queued. `started: false` if the run has another status. A cloud run uses the infrastructure of its job if
   * that accepts runs, otherwise the one in `cloud`.
   */
  start: (ref: RunRef, cloud?: CloudChoice): Promise<Started | undefined> => start(db, ref, cloud),
  /** The cloud fields of the request and the requirement class of a cloud run; undefined for other and unknown runs. */
  cloudOf: (ref: RunRef): Promise<CloudOfRun | undefined> => cloudOf(db, ref),
  requestCancel: (ref: RunRef): Promise<CancelRequest | undefined> => requestCancel(db, ref),
  /** The same for many runs, in one statement; unknown runs are left out. */
  requestCancels: (refs: readonly RunRef[]): Promise<CancelRequest[]> => requestCancels(db, refs),
  /** The runs among `refs`, with their jobs. */
  identify: (refs: readonly RunRef[]): Promise<KnownRun[]> => identifyAll(db, refs),
  /** The uuids of the runs of a retry, by the runs that it repeats. */
  runsAgain: (runIds: readonly number[], jobId: string): Promise<ReadonlyMap<number, string>> =>
    runsAgain(db, runIds, jobId),
  /**
   * Ends the run as `cancelled` if its cancel was requested that long ago, without a report of its worker. Returns whether
   * it ended. The fence then rejects later writes of the worker.
   */
  forceCancel: (runId: number, olderThanMs: number): Promise<boolean> => forceCancel(db, runId, olderThanMs),
})

const findRow = async (db: Kysely<Tables>, ref: RunRef): Promise<RunDetailRow | undefined> => {
  const key = keyOf(ref)
  if (!key) return undefined
  const { rows } = await sql<{ run: RunDetailRow | null }>`
    select find_run(${key.id}::bigint, ${key.uuid}::uuid) as run
  `.execute(db)
  return rows[0]?.run ?? undefined
}

const findDetail = async (db: Kysely<Tables>, ref: RunRef): Promise<RunDetail | undefined> => {
  const row = await findRow(db, ref)
  if (!row) return undefined
  return toRunDetail(row, (await waitingReasons(db, [row])).get(row.id) ?? '')
}

interface RunIdentity {
  readonly id: number
  readonly run_uuid: string
  readonly attempt: number
  readonly workspace: string
}

const identify = async (db: Kysely<Tables>, ref: RunRef): Promise<RunIdentity | undefined> => {
  const condition = byRef(ref)
  if (!condition) return undefined
  const { rows } = await sql<RunIdentity>`
    select r.id, r.run_uuid, r.attempt, r.workspace from runs r where ${condition}
  `.execute(db)
  return rows[0]
}

const steps = async (db: Kysely<Tables>, ref: RunRef, cursor?: string): Promise<PageOf<Step> | undefined> => {
  const run = await identify(db, ref)
  if (!run) return undefined
  const ofRun = sql`from steps where run_id = ${run.id} and attempt = ${run.attempt}`
  const found = await readPage<StepRow & { place: number }>(db, {
    ids: sql`select seq as id ${ofRun} and seq > ${afterOf(cursor)}`,
    from: sql`(select * ${ofRun}) s`,
    id: sql`s.seq`,
    ascending: true,
    bytes: sql`${ROW_BYTES} + octet_length(s.name) + octet_length(s.command) + octet_length(s.output)
      + 2 * octet_length(s.error_message) + octet_length(s.exports::text)`,
    columns: sql`${STEP_COLUMNS}, s.seq as place`,
  })
  return pageOf(found, {
    total: await countOf(db, ofRun),
    limit: undefined,
    idOf: (row) => row.place,
    item: ({ place: _, ...row }) => toStep(row, run.run_uuid),
  })
}

/** The place after which a page begins. */
const afterOf = (cursor: string | undefined): number => (cursor === undefined ? 0 : decodeCursor(cursor))

const countOf = async (db: Kysely<Tables>, from: RawBuilder<unknown>): Promise<number> => {
  const { rows } = await sql<{ total: number }>`select count(*) as total ${from}`.execute(db)
  return rows[0]?.total ?? 0
}

const ARTIFACT_COLUMNS =
  sql.raw(`id, run_id, name, path as artifact_path, type as artifact_type, content_type,
  size_bytes, line_count, description, created_at`)

const artifacts = async (
  db: Kysely<Tables>,
  ref: RunRef,
  cursor?: string,
): Promise<PageOf<Artifact> | undefined> => {
  const run = await identify(db, ref)
  if (!run) return undefined
  const ofRun = sql`from artifacts where run_id = ${run.id} and attempt = ${run.attempt}`
  const inOrder = sql`(select *, row_number() over (order by created_at, name, id) as place ${ofRun})`
  const found = await readPage<Omit<Artifact, 'workspace'> & { place: number }>(db, {
    ids: sql`select place as id from ${inOrder} a where place > ${afterOf(cursor)}`,
    from: sql`${inOrder} a`,
    id: sql`a.place`,
    ascending: true,
    bytes: sql`${ROW_BYTES} + octet_length(a.name) + octet_length(a.path) + octet_length(a.description)`,
    columns: sql`${ARTIFACT_COLUMNS}, place`,
  })
  return pageOf(found, {
    total: await countOf(db, ofRun),
    limit: undefined,
    idOf: (row) => row.place,
    item: ({ place: _, ...row }) => ({ ...row, workspace: run.workspace }),
  })
}

const artifact = async (
  db: Kysely<Tables>,
  ref: RunRef,
  artifactId: string,
): Promise<StoredArtifact | undefined> => {
  const run = isUuid(artifactId) ? await identify(db, ref) : undefined
  if (!run) return undefined
  const { rows } = await sql<Omit<Artifact, 'workspace'> & { store_key: string; sha256: string }>`
    select ${ARTIFACT_COLUMNS}, store_key, sha256 from artifacts where run_id = ${run.id} and id = ${artifactId}
    order by attempt desc limit 1
  `.execute(db)
  return rows[0] && { ...rows[0], workspace: run.workspace }
}

interface LogRow {
  readonly run_id: number
  readonly run_uuid: string
  readonly run_status: RunStatus
  readonly run_attempt: number
}
interface StepLogRow extends LogRow {
  readonly id: string
  readonly attempt: number
  readonly seq: number
  readonly status: StepStatus
  readonly exit_code: number | null
  readonly output: string
  readonly log_file: string
}

const RUN_OF_LOG = sql.raw('r.id as run_id, r.run_uuid, r.status as run_status, r.attempt as run_attempt')

const logOfRun = async (db: Kysely<Tables>, run: RawBuilder<unknown>): Promise<LogState | undefined> => {
  const { rows } = await sql<LogRow>`select ${RUN_OF_LOG} from runs r where ${run}`.execute(db)
  const [row] = rows
  return (
    row && {
      runId: row.run_id,
      runUuid: row.run_uuid,
      runStatus: row.run_status,
      runAttempt: row.run_attempt,
      attempt: row.run_attempt,
    }
  )
}

/** `step`: condition and order of the step's row. */
const logOfStep = async (
  db: Kysely<Tables>,
  run: RawBuilder<unknown>,
  step: RawBuilder<unknown>,
): Promise<LogState | undefined> => {
  const { rows } = await sql<StepLogRow>`
    select ${RUN_OF_LOG}, s.id, s.attempt, s.seq, s.status, s.exit_code, s.output, s.log_file
    from runs r cross join lateral (select * from steps where run_id = r.id and ${step} limit 1) s where ${run}
  `.execute(db)
  const [row] = rows
  return (
    row && {
      runId: row.run_id,
      runUuid: row.run_uuid,
      runStatus: row.run_status,
      runAttempt: row.run_attempt,
      attempt: row.attempt,
      step: {
        id: row.id,
        seq: row.seq,
        status: row.status,
        exitCode: row.exit_code,
        output: row.output,
        storeKey: row.log_file,
      },
    }
  )
}

const logOf = async (
  db: Kysely<Tables>,
  ref: RunRef,
  stepId: string | undefined,
): Promise<LogState | undefined> => {
  const run = byRef(ref)
  if (!run) return undefined
  if (stepId === undefined) return await logOfRun(db, run)
  return isUuid(stepId) ? await logOfStep(db, run, sql`id = ${stepId} order by attempt desc`) : undefined
}

const logAgain = async (
  db: Kysely<Tables>,
  { runId, attempt, step }: LogState,
): Promise<LogState | undefined> => {
  const run = sql`r.id = ${runId}`
  if (step === undefined) return await logOfRun(db, run)
  return await logOfStep(db, run, sql`attempt = ${attempt} and seq = ${step.seq}`)
}

/** Parallel steps may begin in another order: the nearest one with the same name. */
const logInLatest = async (
  db: Kysely<Tables>,
  { runId, attempt, step }: LogState,
): Promise<LogState | undefined> => {
  const run = sql`r.id = ${runId}`
  if (step === undefined) return await logOfRun(db, run)
  return await logOfStep(
    db,
    run,
    sql`attempt = r.attempt and (name, type, module) = (
          select name, type, module from steps
          where run_id = ${runId} and attempt = ${attempt} and seq = ${step.seq})
        order by abs(seq - ${step.seq})`,
  )
}

/** How long expired rows may stay. */
const EXPIRED = sql.raw("interval '1 minute'")

const followLogs = async (db: Kysely<Tables>, runIds: readonly number[], ms: number): Promise<void> => {
  await sql`
    insert into log_follows (run_id, until)
    select id, now() + ${ms} * interval '1 ms' from unnest(${[...runIds]}::bigint[]) id order by id
    on conflict (run_id) do update set until = greatest(log_follows.until, excluded.until)
  `.execute(db)
  await sql`
    delete from log_follows where run_id in (
      select run_id from log_follows where until < now() - ${EXPIRED} order by run_id for update skip locked)
  `.execute(db)
}

const duplicate = async (db: Kysely<Tables>, ref: RunRef): Promise<Duplicate | undefined> => {
  const run = await findRow(db, ref)
  if (!run) return undefined
  const copy = { runUuid: randomUUID(), jobId: randomBytes(8).toString('hex') }
  await sql`
    select submit_job(
      to_jsonb(j) || jsonb_build_object('job_id', ${copy.jobId}::text, 'starts', false, 'target_count', 1,
                                        'delta', null, 'left_out', 0, 'workflow_json', w.json),
      array[r.target], array[r.workspace], ${copy.runUuid}::uuid, false, null)
    from runs r join jobs j on j.id = r.job_no join pinned_workflows w on w.hash = j.workflow_hash
    where r.id = ${run.id}
  `.execute(db)
  return { originalRunUuid: run.run_uuid, ...copy }
}

const start = async (
  db: Kysely<Tables>,
  ref: RunRef,
  cloud: CloudChoice | undefined,
): Promise<Started | undefined> => {
  const known = await identify(db, ref)
  if (!known) return undefined
  const call =
    cloud === undefined
      ? sql`start_run(${known.id})`
      : sql`start_cloud_run(${known.id}, ${storableJson(cloudChoice(cloud, newInfraId()))}::jsonb)`
  const { rows } = await refusing(sql<{ started: boolean }>`select ${call} as started`.execute(db))
  const run = await findDetail(db, String(known.id))
  return run && { started: rows[0]?.started ?? false, run }
}

const cloudOf = async (db: Kysely<Tables>, ref: RunRef): Promise<CloudOfRun | undefined> => {
  const condition = byRef(ref)
  if (!condition) return undefined
  const { rows } = await sql<{ fields: CloudFields | null; requirement_class: string }>`
    select j.cloud as fields, j.requirement_class from runs r join jobs j on j.id = r.job_no
    where ${condition} and r.run_mode || '' = 'cloud'
  `.execute(db)
  const [row] = rows
  return row && { fields: row.fields ?? {}, requirementClass: row.requirement_class }
}

const requestCancel = async (db: Kysely<Tables>, ref: RunRef): Promise<CancelRequest | undefined> => {
  const known = await identify(db, ref)
  if (!known) return undefined
  const { rows } = await sql<{ worker_id: string; was: RunStatus; status: RunStatus }>`
    select worker_id, was, status from request_cancel(array[${known.id}]::bigint[])
  `.execute(db)
  if (rows[0]) {
    const { worker_id: workerId, was, status } = rows[0]
    return { id: known.id, runUuid: known.run_uuid, status, was, workerId }
  }
  const ended = await findRow(db, String(known.id))
  return (
    ended && {
      id: ended.id,
      runUuid: ended.run_uuid,
      status: ended.status,
      was: ended.status,
      workerId: ended.worker_id,
    }
  )
}

const identifyAll = async (db: Kysely<Tables>, refs: readonly RunRef[]): Promise<KnownRun[]> => {
  const keys = refs.flatMap((ref) => keyOf(ref) ?? [])
  const ids = keys.flatMap(({ id }) => id ?? [])
  const uuids = keys.flatMap(({ uuid }) => uuid ?? [])
  const { rows } = await sql<KnownRun>`
    select r.id, r.run_uuid as "runUuid", r.status, coalesce(r.outcome, '') as outcome, r.worker_id as "workerId",
           j.job_id as "jobId"
    from (select * from runs where id = any(${ids}::bigint[])
          union select * from runs where run_uuid = any(${uuids}::uuid[])) r
    join jobs j on j.id = r.job_no order by r.id
  `.execute(db)
  return rows
}

const requestCancels = async (db: Kysely<Tables>, refs: readonly RunRef[]): Promise<CancelRequest[]> => {
  const known = await identifyAll(db, refs)
  const { rows } = await sql<{ id: number; worker_id: string; was: RunStatus; status: RunStatus }>`
    select id, worker_id, was, status from request_cancel(${known.map(({ id }) => id)}::bigint[])
  `.execute(db)
  const asked = new Map(rows.map((row) => [row.id, row]))
  const left = known.filter(({ id }) => !asked.has(id)).map(({ id }) => String(id))
  const now = new Map((await identifyAll(db, left)).map((run) => [run.id, run]))
  return known.map((run) => {
    const { id, runUuid } = run
    const answer = asked.get(id)
    if (answer) return { id, runUuid, status: answer.status, was: answer.was, workerId: answer.worker_id }
    const { status, workerId } = now.get(id) ?? run
    return { id, runUuid, status, was: status, workerId }
  })
}

const runsAgain = async (
  db: Kysely<Tables>,
  runIds: readonly number[],
  jobId: string,
): Promise<ReadonlyMap<number, string>> => {
  const { rows } = await sql<{ of: number; uuid: string }>`
    select r.id as of, n.run_uuid as uuid from runs r
    join runs n on n.target = r.target and n.workspace = r.workspace
    where r.id = any(${runIds}::bigint[]) and n.job_no = (select id from jobs where job_id = ${jobId})
  `.execute(db)
  return new Map(rows.map(({ of, uuid }) => [of, uuid]))
}

const forceCancel = async (db: Kysely<Tables>, runId: number, olderThanMs: number): Promise<boolean> => {
  const { rows } = await sql<{ ended: number }>`
    select coalesce(cardinality(end_runs(jsonb_agg(jsonb_build_object(
      'id', id, 'status', 'cancelled', 'error', 'cancelled on request; its worker did not answer')))), 0) as ended
    from runs
    where id = ${runId} and cancel_requested_at <= now() - ${olderThanMs} * interval '1 ms'
    having count(*) > 0
  `.execute(db)
  return rows[0]?.ended === 1
}
