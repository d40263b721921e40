import type { JobStatus, Priority, Run } from '@scanfarm/contracts'
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
import type { JobDraft, SubmitOptions, TargetDraft, TargetStream } from './job-draft.ts'
import {
  endOfJob,
  findJobSummary,
  listJobs,
  settleJobs,
  type JobFilter,
  type JobRequest,
  type JobPage,
  type CountedJob,
} from './job-list.ts'
import { JobCounter } from './job-counts.ts'
import { jobProgress, type JobProgress } from './job-progress.ts'
import { jobReport, jobStatus, runsOfJob, type JobReport } from './job-report.ts'
import { jobFailures, jobStrip, runsOfPattern, type JobFailures, type JobStrip } from './job-strip.ts'
import type { OutboxRow } from '../runs/outbox.ts'
import { MAX_RUNS_AT_ONCE, newJobId, sentRows, submit, type Sent, type Submitted } from './submit-job.ts'
import type { Totals } from '../totals.ts'
import type { Tables } from '../tables.ts'

const JOB_ID = /^[0-9a-f]{16}$/

interface Made extends Sent {
  readonly class: string
  readonly priority: Priority
}

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
   * Creates the runs of one chunk of one large job; undefined if there is none. `capacity`: most rows of each class and
   * priority that are stored as sent, as in `submit`; they are returned.
   */
  expandOnce: async (
    capacity: Readonly<Record<string, Readonly<Record<Priority, number>>>> = {},
  ): Promise<readonly OutboxRow[] | undefined> => {
    const { rows } = await sql<{ made: Made | null }>`
      select expand_chunk(${JSON.stringify(capacity)}::jsonb) as made
    `.execute(upkeep)
    const made = rows[0]?.made
    return made ? sentRows(made, { ...made, requirementClass: made.class }) : undefined
  },
})

const makeReads = (db: Kysely<Tables>, counter: JobCounter, totals: Totals) => ({
  /** Jobs, newest first, with their counts. The cost does not depend on how many runs are stored. */
  list: (filter: JobFilter, page: JobRequest): Promise<JobPage> => listJobs(db, counter, filter, page),
  summary: async (jobId: string): Promise<CountedJob | undefined> =>
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
