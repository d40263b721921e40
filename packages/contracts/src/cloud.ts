import { Type, type Static } from 'typebox'
import { CloudProviderName } from './enums.ts'
import { Count, named, nullable, text } from './objects.ts'

/**
 * An infrastructure is a group of machines that are requested together. `requested`: its rows exist, but the provider has not
 * been called. `provisioning`: machines are being created. `ready`: at least one machine is ready, and none is being
 * created. `draining`: its machines are being destroyed. `failed`: no machine came up, or none is left.
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

/** All allowed moves. Tests compare `docs/architecture.md` and the database with this table. */
export const INFRA_MOVES: Readonly<Record<InfraStatus, readonly InfraStatus[]>> = {
  requested: ['provisioning', 'draining', 'failed'],
  provisioning: ['ready', 'draining', 'failed'],
  ready: ['draining', 'failed'],
  draining: ['destroyed'],
  destroyed: [],
  failed: [],
}

/**
 * `requested`: the provider may have been called. `booting`: the provider has returned an id. `ready`: the check over ssh has
 * passed. `destroying`: until the provider no longer has the machine. A machine ends as `destroyed` if it was ever ready,
 * otherwise as `failed`.
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
const NullableTimestamp = nullable(Timestamp)
const Money = Type.Union([Type.Number({ description: 'US dollars' }), Type.Null()])

/** One machine, without its keys. */
export const CloudInstance = named('CloudInstance', {
  resource_id: text('The provider\'s id, or "" before there is one'),
  name: Type.String(),
  status: InstanceStatus,
  message: text('The reason for the status, if possible in the words of the provider'),
  address: Type.String(),
  running_runs: Count,
  created_at: Timestamp,
  ready_at: NullableTimestamp,
  destroyed_at: NullableTimestamp,
})
export type CloudInstance = Static<typeof CloudInstance>

export const CloudInfra = named('CloudInfra', {
  infra_id: text('16 lower-case hex characters'),
  status: InfraStatus,
  provider: CloudProviderName,
  region: Type.String(),
  instance_type: Type.String(),
  use_spot: Type.Boolean(),
  auto_destroy: Type.Boolean(),
  instances: Type.Integer({ minimum: 1, description: 'Requested machines' }),
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
})
export type CloudInfra = Static<typeof CloudInfra>
