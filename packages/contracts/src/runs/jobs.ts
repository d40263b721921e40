import { Type, type Static } from 'typebox'
import { Priority, RunMode, TriggerType, WorkflowKind } from '../enums.ts'
import { ScheduledTriggerType } from '../events.ts'
import { Severities } from '../findings/report.ts'
import { Count, count, flag, named, nullable, text } from '../objects.ts'
import { NullableTimestamp, Timestamp } from '../resources.ts'
import { RunOutcome } from './run-outcome.ts'
import { RunStatus } from './run-status.ts'

/** Of a job. */
export const JobCounts = Type.Object(
  {
    pending: count('Pending and queued runs, and targets without a run'),
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
  concurrency: nullable(Type.Integer()),
  trigger_type: TriggerType,
  trigger_name: Type.String(),
  schedule_id: Type.String(),
  infra_id: text('Infrastructure of a cloud job, or ""'),
  created_at: Timestamp,
  ended_at: nullable(Timestamp, 'Null: a run is open, or its end was not noticed yet (seconds)'),
  outcome: nullable(
    RunOutcome,
    'Of all its runs; null until `ended_at` is known. partial: one of them is not clean',
  ),
  cancel_requested_at: NullableTimestamp,
  scope: text('Scope that its request names, or ""'),
  refused: count('Targets that a scope or the never-scan list refused, before and while it ran'),
  left_out: count('Targets that mode delta left out: nothing changed'),
  retry_of: text('The job that it retries, or ""'),
  retries: Type.Array(Type.String(), { description: 'Jobs that retry it, oldest first; at most 100' }),
  counts: nullable(
    JobCounts,
    'Null: the page has many open runs, and those of this job are being counted; ask again. Counts of large open jobs may be some seconds old',
  ),
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
  last: nullable(NightJob),
  previous: nullable(NightJob),
  findings: Type.Object(
    { new: Severities, back: Severities, gone: Severities },
    { description: 'What the last job changed, as in the event schedule.ended' },
  ),
  open: Severities,
  not_tested: count('Open findings that could not be tested or reached when the last job ended'),
  workspace: text('The first workspace of the last job by name, or ""'),
  workspace_count: Count,
})
export type Night = Static<typeof Night>

const RunOfJob = Type.Object({ id: Type.Integer(), run_uuid: Type.String(), target: Type.String() })

/** Failed and partially completed runs of a job by what their messages have in common. */
export const JobFailures = Type.Object({
  data: Type.Array(
    Type.Object({
      status: RunStatus,
      outcome: Type.Enum([...RunOutcome.enum, '']),
      pattern: text('What the messages have in common'),
      example: text('The first message; up to 300 characters'),
      count: Count,
      runs: Type.Array(RunOfJob, { description: 'The first runs, at most 5' }),
    }),
  ),
  total: count('Runs in all groups'),
  other_runs: count('Runs in groups that are not listed'),
  complete: flag('Whether all runs of the job were looked at'),
})
export type JobFailures = Static<typeof JobFailures>

const Seconds = nullable(Type.Number({ minimum: 0 }))
const Time = Type.String({ format: 'date-time' })

export const JobProgress = Type.Object({
  total: Count,
  ended: Count,
  running: Count,
  waiting: count('Pending and queued runs, and targets without a run'),
  started_at: nullable(Time),
  bucket_seconds: Type.Integer({ minimum: 1 }),
  series: Type.Array(Type.Object({ completed: Count, failed: Count, cancelled: Count }), {
    description: 'Runs that ended in each bucket since started_at; at most 120 buckets',
  }),
  rate: nullable(Type.Number({ minimum: 0 }), 'Ended runs per second, lately'),
  eta: Type.Object(
    {
      expected_seconds: Seconds,
      early_seconds: Seconds,
      late_seconds: Seconds,
      reason: text('Why a value is null, or ""'),
    },
    { description: 'Seconds until the last run ends' },
  ),
  oldest_waiting: nullable(Type.Object({ ...RunOfJob.properties, since: Time })),
})
export type JobProgress = Static<typeof JobProgress>
