import type { RunStatus } from '@scanfarm/contracts'
import type { Kysely } from 'kysely'
import { identifyAll } from './find-run.ts'
import type { RunRef } from './run-rows.ts'
import type { Tables } from '../tables.ts'
import { allRows, firstValue } from '../rows.ts'

export interface CancelRequest {
  readonly id: number
  readonly runUuid: string
  /** Status after the request: `cancelled` if the run was waiting, `running` until its worker ends it. */
  readonly status: RunStatus
  /** Status before the request. */
  readonly was: RunStatus
}

export const makeRunCancels = (db: Kysely<Tables>) => {
  /** In one statement; unknown runs are left out. */
  const requestCancels = async (refs: readonly RunRef[]): Promise<CancelRequest[]> => {
    const known = await identifyAll(db, refs)
    const rows = await allRows(db)<Omit<CancelRequest, 'runUuid'>>`
      select id, was, status from request_cancel(${known.map(({ id }) => id)}::bigint[])
    `
    const asked = new Map(rows.map((row) => [row.id, row]))
    const left = known.filter(({ id }) => !asked.has(id)).map(({ id }) => String(id))
    const now = new Map((await identifyAll(db, left)).map((run) => [run.id, run]))
    return known.map((run) => {
      const { id, runUuid } = run
      const { status } = now.get(id) ?? run
      return { id, runUuid, ...(asked.get(id) ?? { status, was: status }) }
    })
  }
  return {
    requestCancels,
    requestCancel: async (ref: RunRef): Promise<CancelRequest | undefined> =>
      (await requestCancels([ref]))[0],
    /**
     * Ends the run as `cancelled` if its cancel was requested that long ago, without a report of its worker. Returns
     * whether it ended. The fence then rejects later writes of the worker.
     */
    forceCancel: async (runId: number, olderThanMs: number): Promise<boolean> =>
      (await firstValue(db, 0)`
        select coalesce(cardinality(end_runs(jsonb_agg(jsonb_build_object(
          'id', id, 'status', 'cancelled', 'error', 'cancelled on request; its worker did not answer')))), 0) as ended
        from runs
        where id = ${runId} and cancel_requested_at <= now() - ${olderThanMs} * interval '1 ms'
        having count(*) > 0
      `) === 1,
  }
}
