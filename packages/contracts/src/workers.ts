import { Type, type Static } from 'typebox'
import { Wanted } from './enums.ts'
import { NullableTimestamp, Timestamp } from './resources.ts'
import { named } from './objects.ts'

const Count = Type.Integer({ minimum: 0 })

export const WorkerTool = named('WorkerTool', {
  name: Type.String(),
  version: Type.String({ description: '"" if the program does not tell it' }),
  path: Type.String({ description: 'Its file on the worker' }),
})
export type WorkerTool = Static<typeof WorkerTool>

export const Worker = named('Worker', {
  id: Type.String(),
  name: Type.String(),
  hostname: Type.String(),
  pid: Type.Integer(),
  version: Type.String(),
  kind: Type.Enum(['worker', 'server']),
  status: Type.Enum(['idle', 'busy', 'draining', 'lost']),
  slots: Count,
  busy_slots: Count,
  capabilities: Type.Array(Type.String()),
  enforcement_gap: Type.Union([Type.String(), Type.Null()], {
    description:
      'Why its kernel does not keep packets of commands within scopes: then targets are checked, and it gets no run of a scope with enforcement kernel. "": it does. null: a worker of an older version',
  }),
  tools: Type.Array(WorkerTool, {
    description:
      'Programs of the shipped manifest that it has, with their versions. Empty until it has asked them, and for workers of older versions',
  }),
  wanted: Wanted,
  drain_until: Type.Union([Timestamp, Type.Null()], { description: 'It waits for its runs until then' }),
  joined_at: Timestamp,
  last_heartbeat: Timestamp,
  lease_age_ms: Type.Integer({ minimum: 0, description: 'Milliseconds since last_heartbeat' }),
  lease_until: Type.String({
    format: 'date-time',
    description: 'A worker that does not renew its lease until then is lost',
  }),
  lost_at: NullableTimestamp,
  current_runs: Type.Array(Type.String({ description: 'run_uuid' })),
  current_task: Type.String({ description: 'The first of current_runs, or ""' }),
  tasks_complete: Type.Integer({
    minimum: 0,
    description: 'Completed runs among the newest 10,000 of the farm',
  }),
  tasks_failed: Type.Integer({
    minimum: 0,
    description: 'Failed runs among the newest 10,000 of the farm',
  }),
})
export type Worker = Static<typeof Worker>

export const WorkerRun = named('WorkerRun', {
  id: Type.Integer(),
  run_uuid: Type.String({ format: 'uuid' }),
  job_id: Type.String(),
  workflow_name: Type.String(),
  target: Type.String(),
  attempt: Count,
  since: Type.String({ format: 'date-time', description: 'When this worker claimed it' }),
})
export type WorkerRun = Static<typeof WorkerRun>

export const WorkerDetail = named('WorkerDetail', {
  ...Worker.properties,
  runs: Type.Array(WorkerRun, { description: 'What its slots execute now, oldest first; at most 1,000' }),
})
export type WorkerDetail = Static<typeof WorkerDetail>
