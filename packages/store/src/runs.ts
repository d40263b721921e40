import { randomBytes, randomUUID } from 'node:crypto'
import type { Artifact, RunDetail, RunStatus, Step } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { cloudChoice } from './cloud/choice.ts'
import { refusing } from './cloud/refusals.ts'
import { newInfraId } from './cloud/requests.ts'
import { decodeCursor } from './cursor.ts'
import { pageOf, readPage, ROW_BYTES } from './page.ts'
import { countByStatus, listRuns } from './run-list.ts'
import { artifactAt, listAllArtifacts, listStepResults } from './run-part-lists.ts'
import { byRef } from './run-ref.ts'
import { RUN_COLUMNS, RUN_DETAIL_COLUMNS, toRunDetail, type RunDetailRow } from './run-rows.ts'
import { STEP_COLUMNS, toStep, type StepRow } from './step-rows.ts'
import type { CancelRequest, CloudChoice, CloudFields, PageOf, RunRef, Runs } from './store.ts'
import { isUuid, storableJson } from './text.ts'
import type { Totals } from './totals.ts'
import { waitingReasons } from './waiting-reason.ts'

export const makeRuns = (db: Kysely<unknown>, totals: Totals): Runs => ({
  list: (filter, page) => listRuns(db, totals, filter, page),
  find: (ref) => findDetail(db, ref),
  steps: (ref, cursor) => steps(db, ref, cursor),
  artifacts: (ref, cursor) => artifacts(db, ref, cursor),
  artifact: (ref, artifactId) => artifact(db, ref, artifactId),
  stepLog: (ref, stepId) => stepLog(db, ref, stepId),
  stepResults: (filter, page) => listStepResults(db, totals, filter, page),
  allArtifacts: (filter, page) => listAllArtifacts(db, totals, filter, page),
  artifactAt: (workspace, path) => artifactAt(db, workspace, path),
  counts: () => countByStatus(db, totals),
  duplicate: (ref) => duplicate(db, ref),
  start: (ref, cloud) => start(db, ref, cloud),
  cloudOf: (ref) => cloudOf(db, ref),
  requestCancel: (ref) => requestCancel(db, ref),
  forceCancel: (runId, olderThanMs) => forceCancel(db, runId, olderThanMs),
})

const findRow = async (db: Kysely<unknown>, ref: RunRef): Promise<RunDetailRow | undefined> => {
  const condition = byRef(ref)
  if (!condition) return undefined
  const { rows } = await sql<RunDetailRow>`
    select ${RUN_COLUMNS}, ${RUN_DETAIL_COLUMNS} from runs r join jobs j on j.id = r.job_no where ${condition}
  `.execute(db)
  return rows[0]
}

const findDetail = async (db: Kysely<unknown>, ref: RunRef): Promise<RunDetail | undefined> => {
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

const identify = async (db: Kysely<unknown>, ref: RunRef): Promise<RunIdentity | undefined> => {
  const condition = byRef(ref)
  if (!condition) return undefined
  const { rows } = await sql<RunIdentity>`
    select r.id, r.run_uuid, r.attempt, r.workspace from runs r where ${condition}
  `.execute(db)
  return rows[0]
}

const steps = async (
  db: Kysely<unknown>,
  ref: RunRef,
  cursor?: string,
): Promise<PageOf<Step> | undefined> => {
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

const countOf = async (db: Kysely<unknown>, from: RawBuilder<unknown>): Promise<number> => {
  const { rows } = await sql<{ total: number }>`select count(*) as total ${from}`.execute(db)
  return rows[0]?.total ?? 0
}

const ARTIFACT_COLUMNS =
  sql.raw(`id, run_id, name, path as artifact_path, type as artifact_type, content_type,
  size_bytes, line_count, description, created_at`)

const artifacts = async (
  db: Kysely<unknown>,
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

const artifact: (
  db: Kysely<unknown>,
  ref: RunRef,
  artifactId: string,
) => ReturnType<Runs['artifact']> = async (db, ref, artifactId) => {
  const run = isUuid(artifactId) ? await identify(db, ref) : undefined
  if (!run) return undefined
  const { rows } = await sql<Omit<Artifact, 'workspace'> & { store_key: string; sha256: string }>`
    select ${ARTIFACT_COLUMNS}, store_key, sha256 from artifacts where run_id = ${run.id} and id = ${artifactId}
    order by attempt desc limit 1
  `.execute(db)
  return rows[0] && { ...rows[0], workspace: run.workspace }
}

const stepLog: (db: Kysely<unknown>, ref: RunRef, stepId: string) => ReturnType<Runs['stepLog']> = async (
  db,
  ref,
  stepId,
) => {
  const run = isUuid(stepId) ? await identify(db, ref) : undefined
  if (!run) return undefined
  const { rows } = await sql<{ storeKey: string; output: string; status: string }>`
    select log_file as "storeKey", output, status from steps where run_id = ${run.id} and id = ${stepId}
    order by attempt desc limit 1
  `.execute(db)
  return rows[0]
}

const duplicate: (db: Kysely<unknown>, ref: RunRef) => ReturnType<Runs['duplicate']> = async (db, ref) => {
  const run = await findRow(db, ref)
  if (!run) return undefined
  const copy = { runUuid: randomUUID(), jobId: randomBytes(8).toString('hex') }
  await sql`
    select submit_job(
      to_jsonb(j) || jsonb_build_object('job_id', ${copy.jobId}::text, 'starts', false, 'target_count', 1,
                                        'workflow_json', w.json),
      array[r.target], array[r.workspace], ${copy.runUuid}::uuid, false, null)
    from runs r join jobs j on j.id = r.job_no join pinned_workflows w on w.hash = j.workflow_hash
    where r.id = ${run.id}
  `.execute(db)
  return { originalRunUuid: run.run_uuid, ...copy }
}

const start: (
  db: Kysely<unknown>,
  ref: RunRef,
  cloud: CloudChoice | undefined,
) => ReturnType<Runs['start']> = async (db, ref, cloud) => {
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

const cloudOf: (db: Kysely<unknown>, ref: RunRef) => ReturnType<Runs['cloudOf']> = async (db, ref) => {
  const condition = byRef(ref)
  if (!condition) return undefined
  const { rows } = await sql<{ fields: CloudFields | null; requirement_class: string }>`
    select j.cloud as fields, j.requirement_class from runs r join jobs j on j.id = r.job_no
    where ${condition} and r.run_mode || '' = 'cloud'
  `.execute(db)
  const [row] = rows
  return row && { fields: row.fields ?? {}, requirementClass: row.requirement_class }
}

const requestCancel = async (db: Kysely<unknown>, ref: RunRef): Promise<CancelRequest | undefined> => {
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

const forceCancel = async (db: Kysely<unknown>, runId: number, olderThanMs: number): Promise<boolean> => {
  const { rows } = await sql<{ ended: number }>`
    select coalesce(cardinality(end_runs(jsonb_agg(jsonb_build_object(
      'id', id, 'status', 'cancelled', 'error', 'cancelled on request; its worker did not answer')))), 0) as ended
    from runs
    where id = ${runId} and cancel_requested_at <= now() - ${olderThanMs} * interval '1 ms'
    having count(*) > 0
  `.execute(db)
  return rows[0]?.ended === 1
}
