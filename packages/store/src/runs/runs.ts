import { randomBytes, randomUUID } from 'node:crypto'
import type { Artifact, Run, RunAttempt, RunDetail, RunStatus, Step } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { forceCancel, requestCancel, requestCancels, type CancelRequest } from './cancel-run.ts'
import { cloudChoice, newInfraId, refusing, type CloudChoice, type CloudFields } from '../cloud/requests.ts'
import { findRow, identify, identifyAll, type KnownRun } from './find-run.ts'
import type { PageOf, PageRequest } from '../page.ts'
import type { SortRequest } from '../findings/sorted.ts'
import { countByStatus, listRuns, type RunFilter, type RunSort } from './run-list.ts'
import { followLogs, logAgain, logInLatest, logOf, type LogState } from './run-logs.ts'
import { artifact, artifacts, steps } from './run-parts.ts'
import type { ArtifactFilter, StepResultFilter, StoredArtifact } from './run-part-lists.ts'
import { artifactAt, listAllArtifacts, listStepResults } from './run-part-lists.ts'
import { runAttempts } from './run-attempts.ts'
import { byRef, toRunDetail, type RunRef } from './run-rows.ts'
import { storableJson } from '../text.ts'
import { queuePlace, type QueuePlace } from './queue-place.ts'
import type { Totals } from '../totals.ts'
import { waitingReasons } from './waiting-reason.ts'
import type { Tables } from '../tables.ts'
import { firstRow } from '../rows.ts'

type Duplicate = { readonly originalRunUuid: string; readonly runUuid: string; readonly jobId: string }
type Started = { readonly started: boolean; readonly run: RunDetail }
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

const findDetail = async (db: Kysely<Tables>, ref: RunRef): Promise<RunDetail | undefined> => {
  const row = await findRow(db, ref)
  if (!row) return undefined
  return toRunDetail(row, (await waitingReasons(db, [row])).get(row.id) ?? '')
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
  const row = await firstRow(db)<{ fields: CloudFields | null; requirement_class: string }>`
    select j.cloud as fields, j.requirement_class from runs r join jobs j on j.id = r.job_no
    where ${condition} and r.run_mode || '' = 'cloud'
  `
  return row && { fields: row.fields ?? {}, requirementClass: row.requirement_class }
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
