import { randomUUID } from 'node:crypto'
import {
  AppError,
  LISTED_REFUSALS,
  type JobStatus,
  type Priority,
  type RefusedTarget,
  type Resume,
  type Run,
  type RunMode,
  type RunnerType,
  type TriggerType,
  type WorkflowKind,
} from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { finishCancel, requestCancel, type CancelledJob } from './cancel-job.ts'
import {
  finishPriority,
  type FinishedPriority,
  requestPriority,
  hasStep,
  retryJob,
  retrySource,
  type ChangedPriority,
  type Retried,
  type RetryOptions,
  type RetrySelection,
  type RetrySource,
  type VoidMessages,
} from './change-job.ts'
import {
  cloudChoice,
  refusing,
  submittedInfra,
  type CloudChoice,
  type CloudFields,
  type SubmittedInfra,
} from './cloud/requests.ts'
import { isUniqueViolation } from './connection.ts'
import {
  endOfJob,
  findJobSummary,
  JobCounter,
  listJobs,
  settleJobs,
  type JobFilter,
  type JobRequest,
  type JobPage,
  type JobSummary,
} from './job-list.ts'
import { jobProgress, type JobProgress } from './job-progress.ts'
import { jobReport, jobStatus, runsOfJob, type JobReport } from './job-report.ts'
import { jobFailures, jobStrip, runsOfPattern, type JobFailures, type JobStrip } from './job-strip.ts'
import type { OutboxRow } from './outbox.ts'
import { storable, storableJson } from './text.ts'
import type { Totals } from './totals.ts'
import { insertRepeat, newScheduleId, type ScheduleDraft } from './triggers/schedules.ts'
import { jobNoOf } from './job-no.ts'
import type { Tables } from './tables.ts'

/** With more targets, the targets are stored first, and their runs are created later in chunks. */
const MAX_RUNS_AT_ONCE = 100_000

/** Common to every run of a request. */
export interface JobDraft {
  readonly workflowName: string
  readonly workflowKind: WorkflowKind
  /** JSON text of the resolved workflow and its SHA-256 in hex; stored once per hash. */
  readonly workflow: { readonly hash: string; readonly json: string }
  readonly params: Readonly<Record<string, string>>
  readonly priority: Priority
  readonly runMode: RunMode
  readonly runnerType: RunnerType
  /** True when the caller named the runner, so that it overrides the workflow's. */
  readonly runnerGiven: boolean
  readonly dockerImage: string
  /** Network that the caller asked for; missing: as the workflow says. */
  readonly dockerNetwork?: string
  readonly sshHost: string
  readonly timeoutMinutes: number | null
  /** Runs of the job at once; null: unbounded. */
  readonly concurrency: number | null
  /** Requirement class (`classOf`). */
  readonly requirementClass: string
  readonly triggerType: TriggerType
  readonly triggerName: string
  readonly scheduleId: string
  readonly eventEnvelope: string
  /** Whose share of the workers its runs use: "token:NAME" or "user:NAME"; missing: that of triggers. */
  readonly submittedBy?: string
  /** Of the request; missing: that of the workspace applies alone. */
  readonly scopeNo?: number | undefined
  readonly refused?: Refused | undefined
  /** Of mode delta; missing: all targets run. */
  readonly delta?: DeltaDraft | undefined
  /** What another attempt takes over; missing: as the workflow says. */
  readonly resume?: Resume | undefined
}

/** What a job of mode delta is and does not run. */
export interface DeltaDraft {
  readonly fields: {
    readonly max_age: string
    readonly full_every: number | null
    /** How many jobs of mode delta the same schedule, or requests for the same workflow, had before. */
    readonly turn: number
    /** It runs all targets. */
    readonly full: boolean
  }
  /** Without passwords. */
  readonly leftOut: readonly RefusedTarget[]
}

/** The targets of a request that no run gets. */
export interface Refused {
  readonly count: number
  /** The first of them, without passwords. */
  readonly listed: readonly RefusedTarget[]
  readonly place: 'submit' | 'trigger'
}

export interface TargetDraft {
  readonly target: string
  readonly workspace: string
}

/** Targets that are too many to be held in memory. */
export interface TargetStream {
  readonly count: number
  /** Each call starts from the first target. A chunk has at most 10,000. If it throws, nothing is stored. */
  chunks(): AsyncIterable<readonly TargetDraft[]>
}

export interface SubmittedJob {
  readonly jobId: string
  readonly targetCount: number
  /** Of the run, if the job has a single one. */
  readonly runUuid: string | undefined
  /** Of a cloud job. */
  readonly infra?: SubmittedInfra | undefined
  /** Of the schedule that was created with it. */
  readonly scheduleId?: string | undefined
}

/** The first response to an `Idempotency-Key`. */
export interface KeptAnswer {
  readonly status: number
  readonly body: string
}

export interface SubmitOptions {
  readonly start?: boolean
  /** With more targets, the targets are stored, and `expandOnce` creates their runs; 100,000 if missing. */
  readonly runsAtOnce?: number
  /** Most runs that the caller will add to the queue itself, right after the submit. */
  readonly send?: number
  readonly cloud?: CloudChoice & { readonly fields?: CloudFields }
  readonly schedule?: ScheduleDraft
  readonly idempotency?: {
    readonly key: string
    readonly requestHash: string
    answer(job: SubmittedJob): KeptAnswer
  }
}

/** `sent`: outbox rows that are marked as sent and that the caller must add to the queue. */
type Submitted =
  { readonly job: SubmittedJob; readonly sent: readonly OutboxRow[] } | { readonly kept: KeptAnswer }

/** `upkeep`: the same database with a longer statement timeout. */
export const makeJobs = (db: Kysely<Tables>, upkeep: Kysely<Tables>, totals: Totals) => ({
  ...makeReads(db, new JobCounter(db, totals), totals),
  ...makeChanges(db, upkeep),
  /**
   * Stores in one transaction the job, its runs (`queued`, or `pending` with `start: false`), their outbox rows (the
   * first `concurrency` of them `ready`) and, with `idempotency`, the response that `answer` returns. `claimLocal` takes
   * the outbox rows of local runs, `cloud.bindRuns` and `claimCloud` those of cloud runs, the dispatcher all others. More
   * than `runsAtOnce` targets are stored first and expanded in chunks by `expandOnce`. `cloud` is required for a cloud job; its
   * infrastructure is created in the same transaction, and `fields` are stored for copies. A key that exists resolves to
   * the stored response if the request hash is the same, and is rejected (`idempotency_conflict`) if not. `schedule` is
   * created with the job, which counts as its first execution. With `send`, up to that many outbox rows are stored as
   * sent, unless older or more urgent ones of the class wait; if the caller dies before it has added them to the queue,
   * a dispatcher takes them as stale.
   */
  submit: (
    draft: JobDraft,
    targets: readonly TargetDraft[] | TargetStream,
    options: SubmitOptions = {},
  ): Promise<Submitted> => submit(db, draft, targets, options),
  /** The status of a job of any size, with bounded memory. */
  report: async (jobId: string): Promise<JobReport | undefined> =>
    JOB_ID.test(jobId) ? jobReport(db, jobId) : undefined,
  /** The first of its runs with higher ids than `after`, in order; empty: there are no more. */
  runs: (jobId: string, after: number): Promise<Run[]> => runsOfJob(db, jobId, after),
  status: async (jobId: string): Promise<JobStatus | undefined> =>
    JOB_ID.test(jobId) ? jobStatus(db, jobId) : undefined,
  /**
   * Cancels all runs of the job: waiting ones at once (their outbox rows are deleted), running ones by setting
   * `cancel_requested_at`. Undefined for an unknown job.
   */
  requestCancel: async (jobId: string): Promise<CancelledJob | undefined> =>
    JOB_ID.test(jobId) ? requestCancel(db, jobId) : undefined,
  /** Continues a cancel that its master did not finish; undefined if there is none. */
  finishCancel: () => finishCancel(upkeep),
  /**
   * Creates the runs of one chunk of one large job; undefined if there is none. `room`: most rows of each class and
   * priority that are stored as sent, as in `submit`; they are returned.
   */
  expandOnce: async (
    room: Readonly<Record<string, Readonly<Record<Priority, number>>>> = {},
  ): Promise<readonly OutboxRow[] | undefined> => {
    const { rows } = await sql<{ made: Made | null }>`
      select expand_chunk(${JSON.stringify(room)}::jsonb) as made
    `.execute(upkeep)
    const made = rows[0]?.made
    return made ? sentRows(made, { ...made, requirementClass: made.class }) : undefined
  },
})

const makeReads = (db: Kysely<Tables>, counter: JobCounter, totals: Totals) => ({
  /** Jobs, newest first, with their counts. The cost does not depend on how many runs are stored. */
  list: (filter: JobFilter, page: JobRequest): Promise<JobPage> => listJobs(db, counter, filter, page),
  summary: async (jobId: string): Promise<JobSummary | undefined> =>
    JOB_ID.test(jobId) ? findJobSummary(db, counter, jobId) : undefined,
  endOf: (jobId: string): Promise<Date | null | undefined> => endOfJob(db, jobId),
  strip: async (jobId: string, cursor: string | undefined, limit: number): Promise<JobStrip | undefined> =>
    JOB_ID.test(jobId) ? jobStrip(db, jobId, cursor, limit) : undefined,
  failures: async (jobId: string): Promise<JobFailures | undefined> =>
    JOB_ID.test(jobId) ? jobFailures(db, jobId) : undefined,
  /** Runs of a job in the groups of `failures` with this pattern. */
  runsOfPattern: async (jobId: string, pattern: string): Promise<readonly number[]> =>
    JOB_ID.test(jobId) ? runsOfPattern(db, jobId, pattern) : [],
  progress: async (jobId: string): Promise<JobProgress | undefined> =>
    JOB_ID.test(jobId) ? jobProgress(db, totals, jobId) : undefined,
})

const makeChanges = (db: Kysely<Tables>, upkeep: Kysely<Tables>) => ({
  /** Changes the priority of what waits. `onVoid` receives messages that the queue need not keep. */
  changePriority: async (
    jobId: string,
    priority: Priority,
    onVoid: (messages: VoidMessages, requirementClass: string) => void,
  ): Promise<ChangedPriority | undefined> =>
    JOB_ID.test(jobId) ? requestPriority(db, jobId, priority, onVoid) : undefined,
  finishPriority: (
    onVoid: (messages: VoidMessages, requirementClass: string) => void,
  ): Promise<FinishedPriority | undefined> => finishPriority(upkeep, onVoid),
  retrySource: async (jobId: string): Promise<RetrySource | undefined> =>
    JOB_ID.test(jobId) ? retrySource(db, jobId) : undefined,
  /** Whether the workflow of the job has the step; in a flow also `module/step`. */
  hasStep: (jobNo: number, step: string): Promise<boolean> => hasStep(db, jobNo, step),
  /** Creates a job that repeats runs of another one, in one transaction; undefined if there is nothing to repeat. */
  retry: (
    jobNo: number,
    selection: RetrySelection,
    { cloud, from = null, atOnce = MAX_RUNS_AT_ONCE }: RetryOptions = {},
  ): Promise<Retried | undefined> =>
    retryJob(upkeep, { jobNo, jobId: newJobId(), selection, cloud, from, atOnce }),
  /** Stores the final counts of jobs that have ended, after the job `after`. */
  settle: (after: number, limit: number) => settleJobs(upkeep, after, limit),
})

/** New runs that are stored as sent, and their job. */
interface Sent {
  readonly sent: readonly number[]
  readonly job_no: number
  readonly owner: string
  readonly weight: number
}

interface Made extends Sent {
  readonly class: string
  readonly priority: Priority
}

const sentRows = (
  { sent, job_no: jobNo, owner, weight }: Sent,
  { priority, requirementClass }: Pick<OutboxRow, 'priority' | 'requirementClass'>,
): OutboxRow[] => {
  const share = { jobNo, owner, weight }
  return sent.map((runId) => ({ runId, epoch: 0, priority, requirementClass, share }))
}

const JOB_ID = /^[0-9a-f]{16}$/

/** The last 64 bits of a UUID, 62 of them random. Node reads random bytes ahead for UUIDs. */
export const newJobId = (): string => randomUUID().replaceAll('-', '').slice(-16)

async function submit(
  db: Kysely<Tables>,
  draft: JobDraft,
  targets: readonly TargetDraft[] | TargetStream,
  options: SubmitOptions,
): Promise<Submitted> {
  const count = 'chunks' in targets ? targets.count : targets.length
  if (count === 0 && draft.delta === undefined) throw new RangeError('a job needs at least one target')
  if ((draft.runMode === 'cloud') !== (options.cloud !== undefined)) {
    throw new RangeError('a cloud job needs an infrastructure, and no other job may have one')
  }
  for (;;) {
    const job: SubmittedJob = {
      jobId: newJobId(),
      targetCount: count,
      runUuid: count === 1 ? randomUUID() : undefined,
      infra: options.cloud && (await submittedInfra(db, options.cloud)),
      scheduleId: options.schedule && newScheduleId(),
    }
    try {
      return await refusing(insertJob(db, job, draft, targets, options))
    } catch (error) {
      const taken = isUniqueViolation(error) && (await exists(db, job.jobId))
      if (!taken) throw error
    }
  }
}

const exists = async (db: Kysely<Tables>, jobId: string): Promise<boolean> =>
  (await jobNoOf(db, jobId)) !== undefined

async function insertJob(
  db: Kysely<Tables>,
  job: SubmittedJob,
  draft: JobDraft,
  targets: readonly TargetDraft[] | TargetStream,
  options: SubmitOptions,
): Promise<Submitted> {
  const { idempotency, start = true } = options
  const answer = idempotency?.answer(job)
  const kept =
    idempotency && answer
      ? storableJson({
          key: idempotency.key,
          request_hash: idempotency.requestHash,
          status: answer.status,
          body: answer.body,
        })
      : null
  const choice = options.cloud && job.infra ? cloudChoice(options.cloud, job.infra.infraId) : null
  const columns = {
    ...jobColumns(job, draft, start),
    cloud: options.cloud?.fields ?? null,
    cloud_infra: choice,
  }
  const insert = async (on: Kysely<Tables>, now: readonly TargetDraft[], stored: boolean) => {
    const { rows } = await sql<{
      made: Partial<Sent> & { kept?: KeptAnswer & { request_hash: string } }
    }>`
      select submit_job(${storableJson(columns)}::jsonb, ${now.map((t) => storable(t.target))}::text[],
        ${now.map((t) => t.workspace)}::text[], ${job.runUuid ?? null}::uuid, ${stored}, ${kept}::jsonb,
        ${options.send ?? 0}::int) as made
    `.execute(on)
    return rows[0]?.made ?? {}
  }

  const stream = 'chunks' in targets ? targets : undefined
  const held = 'chunks' in targets ? [] : targets
  const isStored = job.targetCount > (options.runsAtOnce ?? MAX_RUNS_AT_ONCE) || stream !== undefined
  const { schedule } = options
  const { scheduleId } = job
  if (stream) await pinWorkflow(db, draft.workflow)
  const made =
    stream === undefined && schedule === undefined
      ? await insert(db, held, isStored)
      : await db.transaction().execute(async (tx) => {
          const result = await insert(tx, held, isStored)
          if (result.job_no === undefined) return result
          if (schedule && scheduleId) await insertRepeat(tx, scheduleId, schedule, result.job_no)
          if (stream === undefined) return result
          await storeTargets(tx, result.job_no, stream.chunks())
          if (choice)
            await sql`select join_infra(${result.job_no}, ${storableJson(choice)}::jsonb)`.execute(tx)
          return result
        })
  if (!made.kept) {
    const { sent = [], job_no = 0, owner = '', weight = 1 } = made
    return { job, sent: sentRows({ sent, job_no, owner, weight }, draft) }
  }
  if (made.kept.request_hash !== idempotency?.requestHash) throw idempotencyConflict()
  return { kept: { status: made.kept.status, body: made.kept.body } }
}

/** Commits separately: otherwise other submits of the same new workflow wait until all targets of this job are stored. */
const pinWorkflow = async (db: Kysely<Tables>, { hash, json }: JobDraft['workflow']): Promise<void> => {
  await db
    .insertInto('pinned_workflows')
    .values({ hash, json })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export const idempotencyConflict = (): AppError =>
  new AppError(
    'idempotency_conflict',
    'this Idempotency-Key was used before with another request; use a new key',
  )

/** The argument `p_job` of the SQL function `submit_job`. */
export const jobColumns = (job: SubmittedJob, draft: JobDraft, start: boolean) => ({
  job_id: job.jobId,
  workflow_name: draft.workflowName,
  workflow_kind: draft.workflowKind,
  workflow_hash: draft.workflow.hash,
  workflow_json: draft.workflow.json,
  params: draft.params,
  priority: draft.priority,
  run_mode: draft.runMode,
  runner_type: draft.runnerType,
  runner_given: draft.runnerGiven,
  docker_image: draft.dockerImage,
  docker_network: draft.dockerNetwork ?? '',
  ssh_host: draft.sshHost,
  timeout_minutes: draft.timeoutMinutes,
  concurrency: draft.concurrency,
  requirement_class: draft.requirementClass,
  trigger_type: draft.triggerType,
  trigger_name: draft.triggerName,
  schedule_id: job.scheduleId ?? draft.scheduleId,
  event_envelope: draft.eventEnvelope,
  submitted_by: draft.submittedBy ?? '',
  starts: start,
  target_count: job.targetCount,
  scope_no: draft.scopeNo ?? null,
  refused: draft.refused?.count ?? 0,
  refusals: refusalItems(draft.refused),
  delta: draft.delta?.fields ?? null,
  left_out: draft.delta?.leftOut.length ?? 0,
  resume: draft.resume ?? null,
  left_out_items: draft.delta?.leftOut.slice(0, LISTED_REFUSALS) ?? null,
})

/** The argument `p_items` of the SQL function `record_refusals`. */
export const refusalItems = (refused: Refused | undefined) =>
  (refused?.listed ?? []).map((one) => ({ ...one, place: refused?.place }))

const storeTargets = async (
  tx: Kysely<Tables>,
  jobNo: number,
  targets: AsyncIterable<readonly TargetDraft[]>,
): Promise<void> => {
  let number = 0
  for await (const chunk of targets) {
    await sql`insert into job_targets (job_no, chunk, targets, workspaces) values (${jobNo}, ${number++},
      ${chunk.map((t) => storable(t.target))}, ${chunk.map((t) => t.workspace)})`.execute(tx)
  }
}
