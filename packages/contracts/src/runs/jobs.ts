import { Type, type Static } from 'typebox'
import { Priority, RunMode, TriggerType, WorkflowKind } from '../enums.ts'
import { ScheduledTriggerType } from '../events.ts'
import { Severities } from '../findings/report.ts'
import { named } from '../objects.ts'
import { NullableTimestamp, Timestamp } from '../resources.ts'
import { RunOutcome } from './run-outcome.ts'

const Count = Type.Integer({ minimum: 0 })

/** Of a job. */
export const JobCounts = Type.Object(
  {
    pending: Type.Integer({ minimum: 0, description: 'Pending and queued runs, and targets without a run' }),
    running: Count,
    completed: Count,
    failed: Count,
    cancelled: Count,
    clean: Count,
    partial: Count,
    nothing_done: Count,
  },
  { description: 'Runs by status, and ended runs by outcome' },
)

export type JobCounts = Static<typeof JobCounts>

export const JobSummary = named('JobSummary', {
  job_id: Type.String(),
  workflow_name: Type.String(),
  workflow_kind: WorkflowKind,
  status: Type.Enum(['open', 'completed', 'failed', 'cancelled', 'partial'], {
    description: 'open: a run has not ended. partial: the runs ended differently',
  }),
  priority: Priority,
  run_mode: RunMode,
  target_count: Count,
  concurrency: Type.Union([Type.Integer(), Type.Null()]),
  trigger_type: TriggerType,
  trigger_name: Type.String(),
  schedule_id: Type.String(),
  infra_id: Type.String({ description: 'Infrastructure of a cloud job, or ""' }),
  created_at: Timestamp,
  ended_at: Type.Union([Timestamp, Type.Null()], {
    description: 'Null: a run is open, or its end was not noticed yet (seconds)',
  }),
  outcome: Type.Union([RunOutcome, Type.Null()], {
    description: 'Of all its runs; null until `ended_at` is known. partial: one of them is not clean',
  }),
  cancel_requested_at: NullableTimestamp,
  scope: Type.String({ description: 'Scope that its request names, or ""' }),
  refused: Type.Integer({
    minimum: 0,
    description: 'Targets that a scope or the never-scan list refused, before and while it ran',
  }),
  left_out: Type.Integer({ minimum: 0, description: 'Targets that mode delta left out: nothing changed' }),
  retry_of: Type.String({ description: 'The job that it retries, or ""' }),
  retries: Type.Array(Type.String(), { description: 'Jobs that retry it, oldest first; at most 100' }),
  counts: Type.Union([JobCounts, Type.Null()], {
    description:
      'Null: the page has many open runs, and those of this job are being counted; ask again. Counts of large open jobs may be some seconds old',
  }),
})
export type JobSummary = Static<typeof JobSummary>

export const NightJob = Type.Object(
  {
    job_id: Type.String(),
    created_at: Timestamp,
    ended_at: Timestamp,
    outcome: RunOutcome,
    is_cancelled: Type.Boolean(),
    target_count: Count,
    completed: Count,
    failed: Count,
    cancelled: Count,
    clean: Count,
    partial: Count,
    nothing_done: Count,
  },
  { $id: 'NightJob', description: 'An ended job; runs by status and by outcome' },
)

export type NightJob = Static<typeof NightJob>

export const Night = named('Night', {
  schedule_id: Type.String(),
  name: Type.String(),
  workflow_name: Type.String(),
  trigger_type: ScheduledTriggerType,
  enabled: Type.Boolean(),
  next_run: NullableTimestamp,
  running: Type.Union([Type.Object({ job_id: Type.String(), created_at: Timestamp }), Type.Null()], {
    description: 'Its newest job, if it has not ended',
  }),
  last: Type.Union([NightJob, Type.Null()]),
  previous: Type.Union([NightJob, Type.Null()]),
  findings: Type.Object(
    { new: Severities, back: Severities, gone: Severities },
    { description: 'What the last job changed, as in the event schedule.ended' },
  ),
  open: Severities,
  not_tested: Type.Integer({
    minimum: 0,
    description: 'Open findings that could not be tested or reached when the last job ended',
  }),
  workspace: Type.String({ description: 'The first workspace of the last job by name, or ""' }),
  workspace_count: Count,
})
export type Night = Static<typeof Night>
