import { Type, type Static, type TSchema } from 'typebox'
import { OUTCOME_REASONS, RunOutcome } from './runs/run-outcome.ts'
import { RunStatus, StepStatus } from './runs/run-status.ts'
import {
  ArtifactType,
  ContentType,
  Priority,
  Role,
  RunMode,
  RunnerType,
  TriggerType,
  WorkflowKind,
} from './enums.ts'
import { Count, count, flag, named, nullable, text } from './objects.ts'

/** ISO 8601 in UTC, for example `2026-01-31T12:00:00.000Z`. */
export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601, UTC' })
export const NullableTimestamp = nullable(Timestamp)
export const StringMap = Type.Record(Type.String(), Type.String())
/** `""` until the run has ended. */
const Outcome = Type.Enum([...RunOutcome.enum, ''], {
  description:
    'Whether an ended run did its work: clean, partial (something failed or was left out) or nothing_done; "" while it has not ended',
})

const runFields = {
  id: Type.Integer(),
  run_uuid: Type.String({ format: 'uuid' }),
  workflow_name: Type.String(),
  workflow_kind: WorkflowKind,
  target: Type.String(),
  params: StringMap,
  status: RunStatus,
  outcome: Outcome,
  failed_steps: count('Failed steps, including those with on_error: continue'),
  left_out_modules: count('Modules that were due and could not start'),
  left_out_steps: count('Steps of started modules that were due but not reached'),
  outcome_reasons: Type.Array(Type.String(), {
    maxItems: OUTCOME_REASONS,
    description: 'The first reasons why something failed or was left out',
  }),
  workspace: Type.String(),
  org_uuid: Type.String({ format: 'uuid', description: 'Organisation that has the workspace' }),
  started_at: NullableTimestamp,
  completed_at: NullableTimestamp,
  total_steps: Count,
  completed_steps: Count,
  trigger_type: TriggerType,
  run_group_id: text('The job id of the request that created the run'),
  created_at: Timestamp,
  updated_at: Timestamp,
  priority: Priority,
  run_priority: Priority,
  run_mode: RunMode,
  runner_type: RunnerType,
  attempt: Count,
  worker_id: text('Worker that executes or last executed it, or ""'),
  waiting_reason: text('Why a queued run waits, or ""'),
  loop_items: Type.Union(
    [Type.Object({ first: Type.Integer({ minimum: 1 }), last: Type.Integer({ minimum: 1 }) }), Type.Null()],
    { description: 'Items of the loop of another run that it executes; null: it executes its workflow' },
  ),
  error_message: Type.String(),
  ...Type.Partial(
    Type.Object({
      hooks_enabled: flag('Whether the workflow has hooks; only below /osm/api'),
      is_queued: flag('Whether it waits for a worker; only below /osm/api'),
      input_is_file: flag('Always false; only below /osm/api'),
    }),
  ).properties,
}

/** A run in a list. */
export const Run = named('Run', {
  ...runFields,
  current_pid: Type.Integer({ description: 'Running process; 0 if none' }),
})
export type Run = Static<typeof Run>

export const RunDetail = named('RunDetail', {
  ...runFields,
  schedule_id: Type.String(),
  trigger_name: Type.String(),
  timeout: Type.Union([Type.Integer({ description: 'minutes' }), Type.Null()]),
  docker_image: Type.String(),
  docker_network: text('Network that the caller requested, or ""'),
  ssh_host: Type.String(),
  facts: StringMap,
  tools: Type.Array(Type.Object({ name: Type.String(), version: Type.String() }), {
    description: 'Versions of the programs that the workflow declares, if they tell one',
  }),
  killed_pids: Type.Array(Type.Integer()),
  loop_run_uuid: text('Run whose loop has the items that this run executes, or ""'),
  infra_id: text('Infrastructure of a cloud run, or ""'),
  cloud_instance: text('Machine that a cloud run is bound to, by name, or ""'),
})
export type RunDetail = Static<typeof RunDetail>

export const AttemptEnding = Type.Enum(
  ['running', 'completed', 'failed', 'cancelled', 'worker_lost', 'machine_lost', 'handed_back'],
  {
    description:
      'worker_lost: the worker stopped renewing its lease. machine_lost: the cloud machine was lost. handed_back: the worker drained or could not begin the run',
  },
)
export type AttemptEnding = Static<typeof AttemptEnding>

export const RunAttempt = named('RunAttempt', {
  attempt: Type.Integer({ minimum: 1 }),
  ending: AttemptEnding,
  reason: text('Why it ended, in words, or ""'),
  worker_id: Type.String(),
  worker: text('Name of the worker, or "" if it is not known any more'),
  hostname: Type.String(),
  pid: Type.Integer({ description: 'Process of the worker; 0 if not known' }),
  version: Type.String(),
  machine: text('Cloud machine, or ""'),
  started_at: NullableTimestamp,
  ended_at: NullableTimestamp,
  heard_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'Last heartbeat of the worker when the attempt was taken from it; otherwise null',
  }),
  killed_pids: Type.Array(Type.Integer(), {
    description: 'Processes that the worker reported as killed when it stopped the attempt',
  }),
})
export type RunAttempt = Static<typeof RunAttempt>

export const Step = named('Step', {
  id: Type.String({ format: 'uuid' }),
  run_id: Type.Integer(),
  run_uuid: Type.String({ format: 'uuid' }),
  step_name: Type.String(),
  step_type: Type.String(),
  module: text('Module of a flow, or ""'),
  status: StepStatus,
  command: Type.String(),
  output: text('The last 16 KiB; the whole output is in log_file'),
  error_message: Type.String(),
  error: text('Same as error_message'),
  exports: StringMap,
  exit_code: nullable(Type.Integer()),
  duration_ms: Count,
  log_file: text('Path below the API root that serves the whole log, or ""'),
  attempt: Count,
  taken_from: Type.Union(
    [Type.Object({ run_uuid: Type.String({ format: 'uuid' }), attempt: Count }), Type.Null()],
    { description: 'The earlier attempt or the batch that executed the step; null: this attempt did' },
  ),
  items_job_id: text('Job whose runs executed the items of the loop, or ""'),
  started_at: NullableTimestamp,
  completed_at: NullableTimestamp,
  created_at: Timestamp,
})
export type Step = Static<typeof Step>

export const Artifact = named('Artifact', {
  id: Type.String({ format: 'uuid' }),
  run_id: Type.Integer(),
  workspace: Type.String(),
  name: Type.String(),
  artifact_path: Type.String(),
  artifact_type: ArtifactType,
  content_type: ContentType,
  size_bytes: Count,
  line_count: Count,
  description: Type.String(),
  created_at: Timestamp,
})
export type Artifact = Static<typeof Artifact>

export const JobStatus = named('JobStatus', {
  job_id: Type.String(),
  total_runs: Count,
  completed: Count,
  running: Count,
  failed: Count,
  pending: count('Pending and queued runs'),
  cancelled: Count,
  outcomes: Type.Object(
    { clean: Count, partial: Count, nothing_done: Count },
    { description: 'Ended runs by their outcome' },
  ),
  runs: Type.Array(
    Type.Object({ run_uuid: Type.String(), target: Type.String(), status: RunStatus, outcome: Outcome }),
  ),
})
export type JobStatus = Static<typeof JobStatus>

export const ApiToken = named('ApiToken', {
  id: Type.Integer(),
  name: Type.String(),
  role: Role,
  created_at: Timestamp,
  expires_at: NullableTimestamp,
  last_used_at: NullableTimestamp,
})
export type ApiToken = Static<typeof ApiToken>

export const User = named('User', {
  id: Type.Integer(),
  username: Type.String(),
  role: Role,
  created_at: Timestamp,
})
export type User = Static<typeof User>

export const AuditEntry = named('AuditEntry', {
  id: Type.Integer(),
  at: Timestamp,
  kind: Type.Enum(['user', 'token']),
  caller_id: Type.Integer({ description: 'Id of the user or token' }),
  caller: text('Name of the user or token at that time'),
  role: Role,
  method: Type.String(),
  route: text('Pattern of the route: `/users/{id}`'),
  path: text('The path with its ids, at most 500 characters'),
  status: Type.Integer(),
})
export type AuditEntry = Static<typeof AuditEntry>

export const Pagination = named('Pagination', {
  total: Count,
  offset: Count,
  limit: Count,
  next_cursor: Type.Optional(text('Pass as cursor to get the next page')),
  truncated: Type.Optional(
    flag(
      'The page reached its size limit: it has fewer records than limit, and more exist. Continue with next_cursor, or with offset plus the number of records',
    ),
  ),
})
export type Pagination = Static<typeof Pagination>

export const page = <T extends TSchema>(item: T) =>
  Type.Object({ data: Type.Array(item), pagination: Pagination })
export const wrapped = <T extends TSchema>(item: T) => Type.Object({ data: item })

export const ErrorBody = named('ErrorBody', {
  error: Type.Literal(true),
  message: Type.String(),
  code: Type.String(),
  request_id: Type.String(),
  details: Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
})
export type ErrorBody = Static<typeof ErrorBody>

/** A login of a browser, as its owner sees it. */
export const OwnSession = named('OwnSession', {
  /** The beginning of its hash. */
  id: Type.String(),
  created_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: Timestamp,
  current: flag('The login of the browser that asks'),
})
export type OwnSession = Static<typeof OwnSession>
