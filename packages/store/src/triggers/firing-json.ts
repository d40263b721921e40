import { createHash, randomUUID } from 'node:crypto'
import { jobColumns, newJobId } from '../jobs.ts'
import type { EventDraft, Fired, Firing, ScheduledFire } from './port.ts'

/** As the SQL function `fire_trigger` reads it. */
export const firingJson = ({ triggerKey, overlap, dedupe, draft, targets }: Firing) => {
  const count = targets.length
  if (count === 0) throw new RangeError('a firing needs at least one target')
  const runUuid = count === 1 ? randomUUID() : undefined
  return {
    trigger_key: triggerKey,
    overlap,
    // Hashed: a key may be as long as an event.
    dedupe_key: dedupe === undefined ? null : createHash('sha256').update(dedupe.key).digest('hex'),
    dedupe_ms: dedupe?.windowMs ?? 0,
    schedule_id: draft.scheduleId,
    job: jobColumns({ jobId: newJobId(), targetCount: count, runUuid }, draft, true),
    targets: targets.map(({ target }) => target),
    workspaces: targets.map(({ workspace }) => workspace),
    uuid: runUuid ?? null,
  }
}

export const eventJson = (event: EventDraft) => ({
  topic: event.topic,
  event_id: event.eventId,
  name: event.name,
  source: event.source,
  data_type: event.dataType,
  data: event.data,
  workspace: event.workspace,
  run_id: event.runId,
  workflow_name: event.workflowName,
})

export const fireJson = ({ fireKey, event, firing, error }: ScheduledFire) => ({
  fire_key: fireKey,
  event: eventJson(event),
  firing: firing === undefined ? null : firingJson(firing),
  error,
})

interface FiredRow {
  readonly trigger_key: string
  readonly outcome: Fired['outcome']
  readonly error?: string
  readonly job_id?: string
  readonly cancelled?: number[]
}

export const firedOf = (rows: readonly FiredRow[]): Fired[] =>
  rows.map(({ trigger_key, outcome, error = '', job_id = '', cancelled = [] }) => ({
    triggerKey: trigger_key,
    outcome,
    error,
    jobId: job_id,
    cancelled,
  }))

export type FiredJson = readonly FiredRow[] | null
