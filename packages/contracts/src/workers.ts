import { Type, type Static } from 'typebox'
import { Wanted } from './enums.ts'
import { NullableTimestamp, Timestamp } from './resources.ts'
import { closed, Count, count, flag, named, nullable, text } from './objects.ts'

export const WorkerTool = named('WorkerTool', {
  name: Type.String(),
  version: text('"" if the program does not tell it'),
  path: text('Its file on the worker'),
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
  enforcement_gap: nullable(
    Type.String(),
    'Why its kernel does not keep packets of commands within scopes: then targets are checked, and it gets no run of a scope with enforcement kernel. "": it does. null: a worker of an older version',
  ),
  tools: Type.Array(WorkerTool, {
    description:
      'Programs of the shipped manifest that it has, with their versions. Empty until it has asked them, and for workers of older versions',
  }),
  wanted: Wanted,
  drain_until: nullable(Timestamp, 'It waits for its runs until then'),
  joined_at: Timestamp,
  last_heartbeat: Timestamp,
  lease_age_ms: count('Milliseconds since last_heartbeat'),
  lease_until: Type.String({
    format: 'date-time',
    description: 'A worker that does not renew its lease until then is lost',
  }),
  lost_at: NullableTimestamp,
  current_runs: Type.Array(text('run_uuid')),
  current_task: text('The first of current_runs, or ""'),
  tasks_complete: count('Completed runs among the newest 10,000 of the farm'),
  tasks_failed: count('Failed runs among the newest 10,000 of the farm'),
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

/** Whose runs get `weight` times the share of the others. */
export const Share = closed({
  owner: Type.String({
    pattern: '^(token|user|workspace):.{1,128}$',
    description: 'token:NAME, user:NAME, or workspace:NAME for all jobs whose first run is in this workspace',
  }),
  weight: Type.Integer({ minimum: 1, maximum: 1_000 }),
})
export type Share = Static<typeof Share>

/** Where a queued run waits. */
export const QueuePlace = named('QueuePlace', {
  position: Type.Integer({
    minimum: 1,
    description:
      'Among the queued runs with the same priority, run mode, needs and infrastructure; 1: it is the oldest of them',
  }),
  exact: flag('False: the position is at least this'),
  waiting: Type.Integer({ minimum: 1, description: 'These runs, with this one' }),
  more_urgent: count('The same kind of runs with a higher priority: they start first'),
})
export type QueuePlace = Static<typeof QueuePlace>

export const WorkerFigures = Type.Object(
  { live: Count, draining: Count, lost: Count, slots: Count, busy_slots: Count },
  {
    description: 'With the slots of servers. Slots are those of live workers; draining contains paused ones',
  },
)
export type WorkerFigures = Static<typeof WorkerFigures>

const Dollars = Type.Number({
  minimum: 0,
  description: 'US dollars; machines without a known price count as 0',
})

export const CloudFigures = Type.Object({
  infras: Count,
  machines: Count,
  hourly_cost: Dollars,
  cost_24h: Dollars,
  booked_cost: Type.Number({
    minimum: 0,
    description: 'US dollars for all machines until they expire; counted against `max_cost`',
  }),
})
export type CloudFigures = Static<typeof CloudFigures>

export const FailingWorkflow = Type.Object({ workflow_name: Type.String(), ended: Count, failed: Count })
export type FailingWorkflow = Static<typeof FailingWorkflow>
