import { Type, type Static } from 'typebox'
import { StringMap } from '../resources.ts'
import { Resume } from './resume.ts'
import { LISTED_REFUSALS, RefusedTarget } from '../scope/schemas.ts'
import { MISSING_TOOLS } from '../missing-tools.ts'
import { WORKSPACE_PATTERN } from '../target.ts'
import { CloudProviderName, HEURISTICS, Priority, RunMode, RunnerType, WorkflowKind } from '../enums.ts'
import { closed, flag, named, text } from '../objects.ts'

const Name = Type.String({ minLength: 1, maxLength: 256 })

/** One year. */
export const MAX_TIMEOUT_MINUTES = 525_600

/** Minutes as a number or text, or a duration like `2h` or `1h30m`. */
export const Timeout = Type.Union(
  [
    Type.Integer({ minimum: 1, maximum: MAX_TIMEOUT_MINUTES }),
    Type.String({ maxLength: 32, pattern: '^([1-9][0-9]{0,5}|([0-9]+(\\.[0-9]+)?(ms|[smhd]))+)$' }),
  ],
  { description: `a whole number of minutes from 1 to ${MAX_TIMEOUT_MINUTES}, or a duration such as 2h` },
)

/**
 * The body of `POST /runs`. Rules between fields are checked afterwards. `medium` is an alias of `normal`; the fields
 * from `threads_hold` on exist for clients of the established server.
 */
export const CreateRuns = closed(
  {
    flow: Type.Optional(Name),
    module: Type.Optional(Name),
    target: Type.Optional(Type.String()),
    targets: Type.Optional(Type.Array(Type.String())),
    target_file: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    skip_bad: Type.Optional(
      flag('Leave invalid targets out and list them in `skipped`, instead of refusing the request'),
    ),
    params: Type.Optional(StringMap),
    priority: Type.Optional(Type.Enum(['low', 'normal', 'medium', 'high', 'critical'])),
    timeout: Type.Optional(Timeout),
    concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    runner_type: Type.Optional(RunnerType),
    docker_image: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    docker_network: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: 'Network of the docker runner; host and container:NAME require the role admin',
      }),
    ),
    ssh_host: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    workspace: Type.Optional(Type.String({ pattern: WORKSPACE_PATTERN })),
    scope: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: 'Name of the scope that the runs keep to' }),
    ),
    strict: Type.Optional(
      flag(
        'Refuse the request if a target is out of scope or on the never-scan list; default: the others run',
      ),
    ),
    mode: Type.Optional(
      Type.Enum(['all', 'delta'], {
        description:
          'delta: only targets that are new, changed, or not scanned for max_age by this workflow with these params in this workspace; nothing of the others is marked as gone. Paths and repositories always run. Default: all',
      }),
    ),
    max_age: Type.Optional(
      Type.String({ maxLength: 32, description: 'With mode delta: a duration, for example 12h; default 7d' }),
    ),
    full_every: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 1000,
        description:
          'With mode delta: the first and then each time of so many runs all targets. Counted are those of the schedule, or the requests for the workflow',
      }),
    ),
    resume: Type.Optional(Resume),
    run_mode: Type.Optional(RunMode),
    cloud_provider: Type.Optional(CloudProviderName),
    cloud_instances: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    cloud_instance_type: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    cloud_region: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    cloud_auto_destroy: Type.Optional(Type.Boolean()),
    cloud_reuse_infra: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    cloud_use_spot: Type.Optional(Type.Boolean()),
    threads_hold: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100_000,
        description: 'Becomes the param threads_hold; 0: not set',
      }),
    ),
    heuristics_check: Type.Optional(
      Type.Enum([...HEURISTICS], { description: 'Becomes the param heuristics_check' }),
    ),
    missing_tools: Type.Optional(
      Type.Enum([...MISSING_TOOLS], {
        description:
          'If no live worker has the programs that distributed runs need: `wait` for one, with a warning in the answer, or `fail` with 409. Default: `wait`',
      }),
    ),
    empty_target: Type.Optional(flag('Run without a target')),
    repeat: Type.Optional(flag('Also creates a schedule that repeats the request; requires the role admin')),
    repeat_wait_time: Type.Optional(
      Type.String({
        maxLength: 32,
        description: 'Time between two starts, for example 2h; default 1m',
      }),
    ),
    schedule: Type.Optional(
      Type.String({
        maxLength: 128,
        description: 'Cron expression: also creates a schedule for the request; requires the role admin',
      }),
    ),
    schedule_enabled: Type.Optional(flag('Whether the schedule is enabled; default true')),
    notify_on_complete: Type.Optional(flag('Not supported; causes a warning. Use webhooks')),
    skip_validation: Type.Optional(
      flag('Not supported; causes a warning. Targets and params are always checked'),
    ),
  },
  { $id: 'CreateRuns' },
)
export type CreateRuns = Static<typeof CreateRuns>

/** Fields that a schedule keeps for its runs. */
export const SCHEDULED_RUN_FIELDS = [
  'runner_type',
  'docker_image',
  'docker_network',
  'ssh_host',
  'scope',
  'mode',
  'max_age',
  'full_every',
  'resume',
  'timeout',
  'concurrency',
] as const
export type ScheduledRun = Pick<CreateRuns, (typeof SCHEDULED_RUN_FIELDS)[number]>

/** The machines that a cloud job asks for. */
export const CLOUD_FIELDS = [
  'cloud_provider',
  'cloud_instances',
  'cloud_instance_type',
  'cloud_region',
  'cloud_auto_destroy',
  'cloud_reuse_infra',
  'cloud_use_spot',
] as const
export type CloudFields = Pick<CreateRuns, (typeof CLOUD_FIELDS)[number]>

/** Omitted if there are none. */
export const Warnings = Type.Array(Type.Object({ field: Type.String(), message: Type.String() }), {
  description:
    'Fields that were ignored or changed; `missing_tools` if the runs wait because no live worker can take them',
})
export type Warnings = Static<typeof Warnings>

/** The response, 202. */
export const RunsCreated = named('RunsCreated', {
  message: Type.String(),
  workflow: Type.String(),
  kind: WorkflowKind,
  target: Type.Optional(Type.String()),
  target_count: Type.Integer(),
  targets: Type.Optional(Type.Array(Type.String())),
  concurrency: Type.Optional(Type.Integer()),
  priority: Priority,
  run_mode: RunMode,
  job_id: Type.String(),
  run_uuid: Type.Optional(Type.String({ format: 'uuid' })),
  status: Type.Literal('queued'),
  poll_url: Type.String(),
  runner_type: Type.Optional(RunnerType),
  timeout: Type.Optional(Type.Integer()),
  duplicates_dropped: Type.Optional(Type.Integer()),
  skipped_count: Type.Optional(
    Type.Integer({ description: 'Targets that `skip_bad` left out; omitted if there are none' }),
  ),
  skipped: Type.Optional(
    Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
      description: 'The first 50 of them, with their place and the problem',
    }),
  ),
  scope: Type.Optional(Type.String()),
  refused_count: Type.Optional(
    Type.Integer({
      description: 'Targets that are out of scope or on the never-scan list; omitted if there are none',
    }),
  ),
  refused: Type.Optional(
    Type.Array(RefusedTarget, { description: `The first ${LISTED_REFUSALS} of them, with the reason` }),
  ),
  left_out_count: Type.Optional(
    Type.Integer({ description: 'Targets that mode delta left out; omitted if there are none' }),
  ),
  left_out: Type.Optional(
    Type.Array(RefusedTarget, { description: `The first ${LISTED_REFUSALS} of them, with the reason` }),
  ),
  infra_id: Type.Optional(Type.String()),
  infra_status_url: Type.Optional(Type.String()),
  cloud_provider: Type.Optional(CloudProviderName),
  cloud_instances: Type.Optional(Type.Integer()),
  threads_hold: Type.Optional(Type.Integer()),
  heuristics_check: Type.Optional(Type.String()),
  empty_target: Type.Optional(Type.Boolean()),
  repeat: Type.Optional(Type.Boolean()),
  repeat_wait_time: Type.Optional(Type.String()),
  schedule: Type.Optional(Type.String()),
  schedule_enabled: Type.Optional(Type.Boolean()),
  schedule_id: Type.Optional(text('Of the schedule that repeat or schedule asked for')),
  warnings: Type.Optional(Warnings),
})
export type RunsCreated = Static<typeof RunsCreated>
