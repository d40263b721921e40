import { Type, type Static } from 'typebox'
import { StringMap } from './resources.ts'
import { WORKSPACE_PATTERN } from './target.ts'
import { CloudProviderName, Priority, RunMode, RunnerType, WorkflowKind } from './words.ts'

const Name = Type.String({ minLength: 1, maxLength: 256 })

/**
 * The body of `POST /runs`. One-of rules and rules between fields are checked after the shape. `timeout` is in minutes
 * and may be a numeric string, `medium` is another word for `normal`: clients of the established server send both.
 */
export const CreateRuns = Type.Object(
  {
    flow: Type.Optional(Name),
    module: Type.Optional(Name),
    target: Type.Optional(Type.String()),
    targets: Type.Optional(Type.Array(Type.String())),
    target_file: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    params: Type.Optional(StringMap),
    priority: Type.Optional(Type.Enum(['low', 'normal', 'medium', 'high', 'critical'])),
    timeout: Type.Optional(
      Type.Union(
        [Type.Integer({ minimum: 1, maximum: 525_600 }), Type.String({ pattern: '^[1-9][0-9]{0,5}m?$' })],
        { description: 'a whole number of minutes from 1 to 525600' },
      ),
    ),
    concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    runner_type: Type.Optional(RunnerType),
    docker_image: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    ssh_host: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    workspace: Type.Optional(Type.String({ pattern: WORKSPACE_PATTERN })),
    run_mode: Type.Optional(RunMode),
    cloud_provider: Type.Optional(CloudProviderName),
    cloud_instances: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    cloud_instance_type: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    cloud_region: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    cloud_auto_destroy: Type.Optional(Type.Boolean()),
    cloud_reuse_infra: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    cloud_use_spot: Type.Optional(Type.Boolean()),
  },
  { $id: 'CreateRuns', additionalProperties: false },
)
export type CreateRuns = Static<typeof CreateRuns>

/** The answer, 202. */
export const RunsCreated = Type.Object(
  {
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
    infra_id: Type.Optional(Type.String()),
    infra_status_url: Type.Optional(Type.String()),
    cloud_provider: Type.Optional(CloudProviderName),
    cloud_instances: Type.Optional(Type.Integer()),
  },
  { $id: 'RunsCreated' },
)
export type RunsCreated = Static<typeof RunsCreated>

/** Fields that clients of the established server send and this one refuses, with what to do instead. */
export const REFUSED_FIELDS: Readonly<Record<string, string>> = {
  skip_validation: 'is not supported: targets and params are always checked',
  threads_hold: 'is not supported; pass it in params, as {"params": {"threads": "10"}}',
  heuristics_check: 'is not supported; pass it in params, as {"params": {"heuristics_check": "basic"}}',
  empty_target: 'is not supported: name a target',
  repeat: 'is not supported; use a schedule',
  repeat_wait_time: 'is not supported; use a schedule',
  schedule: 'is not supported here; create a schedule with POST /schedules',
  schedule_enabled: 'is not supported here; create a schedule with POST /schedules',
  notify_on_complete: 'is not supported; subscribe to the topic run.completed',
}
