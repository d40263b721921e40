import type { RunStatus } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { findRow, identify, identifyAll } from './find-run.ts'
import type { RunRef } from './run-rows.ts'
import type { Tables } from '../tables.ts'

export interface CancelRequest {
  readonly id: number
  readonly runUuid: string
  /** Status after the request: `cancelled` if the run was waiting, `running` until its worker ends it. */
  readonly status: RunStatus
  /** Status before the request. */
  readonly was: RunStatus
  readonly workerId: string
}

export const requestCancel = async (db: Kysely<Tables>, ref: RunRef): Promise<CancelRequest | undefined> => {
  const known = await identify(db, ref)
  if (!known) return undefined
  const { rows } = await sql<{ worker_id: string; was: RunStatus; status: RunStatus }>`
    select worker_id, was, status from request_cancel(array[${known.id}]::bigint[])
  `.execute(db)
  if (rows[0]) {
    const { worker_id: workerId, was, status } = rows[0]
    return { id: known.id, runUuid: known.run_uuid, status, was, workerId }
  }
  const ended = await findRow(db, String(known.id))
  return (
    ended && {
      id: ended.id,
      runUuid: ended.run_uuid,
      status: ended.status,
      was: ended.status,
      workerId: ended.worker_id,
    }
  )
}

export const requestCancels = async (
  db: Kysely<Tables>,
  refs: readonly RunRef[],
): Promise<CancelRequest[]> => {
  const known = await identifyAll(db, refs)
  const { rows } = await sql<{ id: number; worker_id: string; was: RunStatus; status: RunStatus }>`
    select id, worker_id, was, status from request_cancel(${known.map(({ id }) => id)}::bigint[])
  `.execute(db)
  const asked = new Map(rows.map((row) => [row.id, row]))
  const left = known.filter(({ id }) => !asked.has(id)).map(({ id }) => String(id))
  const now = new Map((await identifyAll(db, left)).map((run) => [run.id, run]))
  return known.map((run) => {
    const { id, runUuid } = run
    const answer = asked.get(id)
    if (answer) return { id, runUuid, status: answer.status, was: answer.was, workerId: answer.worker_id }
    const { status, workerId } = now.get(id) ?? run
    return { id, runUuid, status, was: status, workerId }
  })
}

export const forceCancel = async (
  db: Kysely<Tables>,
  runId: number,
  olderThanMs: number,
): Promise<boolean> => {
  const { rows } = await sql<{ ended: number }>`
    select coalesce(cardinality(end_runs(jsonb_agg(jsonb_build_object(
      'id', id, 'status', 'cancelled', 'error', 'cancelled on request; its worker did not answer')))), 0) as ended
    from runs
    where id = ${runId} and cancel_requested_at <= now() - ${olderThanMs} * interval '1 ms'
    having count(*) > 0
  `.execute(db)
  return rows[0]?.ended === 1
}
