import { createHash, randomUUID } from 'node:crypto'
import type { EventLogEntry, Overlap } from '@scanfarm/contracts'
import type { JobDraft, TargetDraft } from '../jobs/job-draft.ts'
import { jobColumns, newJobId } from '../jobs/submit-job.ts'

/** An entry of the event log to be written. */
export type EventDraft = Pick<
  EventLogEntry,
  'topic' | 'event_id' | 'name' | 'source' | 'data_type' | 'data' | 'workspace' | 'run_id' | 'workflow_name'
>

/** The job that a trigger execution starts for an event, a time or a file. */
export interface ExecutionPlan {
  /** Id of the trigger, the same on every master. */
  readonly triggerKey: string
  readonly overlap: Overlap
  /** The same key within the window fires once. */
  readonly dedupe: { readonly key: string; readonly windowMs: number } | undefined
  readonly draft: JobDraft
  /** Empty if all of them were refused: then the execution fails; or if nothing of them changed. */
  readonly targets: readonly TargetDraft[]
}

/** What became of a planned trigger execution. */
export interface ExecutionResult {
  readonly triggerKey: string
  /**
   * `queued`: its runs start when those of the previous execution have ended. `deduped`, `skipped`, `repeated`: no job
   * was created. `failed`: the database rejected it, see `error`.
   */
  readonly outcome: 'fired' | 'queued' | 'deduped' | 'skipped' | 'repeated' | 'failed'
  readonly error: string
  /** Id of the created job, or `""`. */
  readonly jobId: string
  /** Targets that were refused. */
  readonly refused: number
  /** Running runs whose cancel was requested; the caller signals their workers. */
  readonly cancelled: readonly number[]
}

/** The trigger executions of an event, and the error of triggers that failed. */
export interface EventPlan {
  readonly executions: readonly ExecutionPlan[]
  readonly error: string
}

/** A trigger execution of the scheduler with its event. `plan` is undefined if it could not be planned, see `error`. */
export interface ScheduledPlan {
  readonly fireKey: string
  readonly event: EventDraft
  readonly plan: ExecutionPlan | undefined
  readonly error: string
}

/** A dedupe key as it is stored: it may have any length. */
export const dedupeHash = (key: string): string => createHash('sha256').update(key).digest('hex')

/** The argument `p_firing` of the SQL function `fire_trigger`. */
export const planJson = ({ triggerKey, overlap, dedupe, draft, targets }: ExecutionPlan) => {
  const count = targets.length
  const [refused] = draft.refused?.listed ?? []
  if (count === 0 && refused === undefined && draft.delta === undefined)
    throw new RangeError('a trigger execution needs at least one target')
  const runUuid = count === 1 ? randomUUID() : undefined
  return {
    trigger_key: triggerKey,
    overlap,
    // Hashed, since a key may be as long as an event.
    dedupe_key: dedupe === undefined ? null : dedupeHash(dedupe.key),
    dedupe_ms: dedupe?.windowMs ?? 0,
    schedule_id: draft.scheduleId,
    job: jobColumns({ jobId: newJobId(), targetCount: count, runUuid }, draft, true),
    targets: targets.map(({ target }) => target),
    workspaces: targets.map(({ workspace }) => workspace),
    uuid: runUuid ?? null,
    refused:
      count === 0 && refused !== undefined && !draft.delta?.leftOut.length
        ? `${refused.target}: ${refused.reason}`
        : null,
  }
}

export const scheduledJson = ({ fireKey, event, plan, error }: ScheduledPlan) => ({
  fire_key: fireKey,
  event,
  firing: plan === undefined ? null : planJson(plan),
  error,
})

interface ResultRow {
  readonly trigger_key: string
  readonly outcome: ExecutionResult['outcome']
  readonly error?: string
  readonly job_id?: string
  readonly cancelled?: number[]
  readonly refused?: number
}

export const resultsOf = (rows: readonly ResultRow[]): ExecutionResult[] =>
  rows.map(({ trigger_key, outcome, error = '', job_id = '', cancelled = [], refused = 0 }) => ({
    triggerKey: trigger_key,
    outcome,
    error,
    jobId: job_id,
    cancelled,
    refused,
  }))

export type ResultsJson = readonly ResultRow[] | null
