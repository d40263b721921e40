import { Type, type Static } from 'typebox'
import { CloudProviderName } from './words.ts'

/**
 * The life of an infrastructure: machines asked for together. `requested`: rows exist, nothing was asked of the
 * provider. `provisioning`: machines are being made. `ready`: at least one machine works and none is on its way.
 * `draining`: its machines are being destroyed. `failed`: no machine came up, or none is left.
 */
export const InfraStatus = Type.Enum([
  'requested',
  'provisioning',
  'ready',
  'draining',
  'destroyed',
  'failed',
])
export type InfraStatus = Static<typeof InfraStatus>

/** The only moves; `docs/lifecycle.md` and the database are compared with this table. */
export const INFRA_MOVES: Readonly<Record<InfraStatus, readonly InfraStatus[]>> = {
  requested: ['provisioning', 'draining', 'failed'],
  provisioning: ['ready', 'draining', 'failed'],
  ready: ['draining', 'failed'],
  draining: ['destroyed'],
  destroyed: [],
  failed: [],
}

/**
 * The life of one machine. `requested`: the provider may or may not have been asked. `booting`: it has an id there.
 * `ready`: ssh answered and the check passed. `destroying`: to be destroyed, until the provider no longer has it.
 * `failed` is the end of a machine that never was ready, `destroyed` that of one that was.
 */
export const InstanceStatus = Type.Enum([
  'requested',
  'booting',
  'ready',
  'destroying',
  'destroyed',
  'failed',
])
export type InstanceStatus = Static<typeof InstanceStatus>

export const INSTANCE_MOVES: Readonly<Record<InstanceStatus, readonly InstanceStatus[]>> = {
  requested: ['booting', 'destroying', 'failed'],
  booting: ['ready', 'destroying'],
  ready: ['destroying'],
  destroying: ['destroyed', 'failed'],
  destroyed: [],
  failed: [],
}

const Timestamp = Type.String({ format: 'date-time' })
const NullableTimestamp = Type.Union([Timestamp, Type.Null()])
const Count = Type.Integer({ minimum: 0 })
const Money = Type.Union([Type.Number({ description: 'US dollars' }), Type.Null()])

/** One machine as callers see it; never its keys. */
export const CloudInstance = Type.Object(
  {
    resource_id: Type.String({ description: 'The provider\'s id, or "" while it has none' }),
    name: Type.String(),
    status: InstanceStatus,
    message: Type.String({
      description: 'Why it is as it is, in the words of the provider where it has some',
    }),
    address: Type.String(),
    running_runs: Count,
    created_at: Timestamp,
    ready_at: NullableTimestamp,
    destroyed_at: NullableTimestamp,
  },
  { $id: 'CloudInstance' },
)
export type CloudInstance = Static<typeof CloudInstance>

export const CloudInfra = Type.Object(
  {
    infra_id: Type.String({ description: '16 lower-case hex characters' }),
    status: InfraStatus,
    provider: CloudProviderName,
    region: Type.String(),
    instance_type: Type.String(),
    use_spot: Type.Boolean(),
    auto_destroy: Type.Boolean(),
    instances: Type.Integer({ minimum: 1, description: 'Machines asked for' }),
    ready_count: Count,
    total_count: Count,
    message: Type.String(),
    hourly_cost: Money,
    estimated_cost: Money,
    expires_at: Timestamp,
    created_at: Timestamp,
    ready_at: NullableTimestamp,
    destroyed_at: NullableTimestamp,
    details: Type.Array(CloudInstance),
  },
  { $id: 'CloudInfra' },
)
export type CloudInfra = Static<typeof CloudInfra>
