import type { RunOutcome, RunStatus } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { byRef, keyOf, type RunDetailRow, type RunRef } from './run-rows.ts'
import type { Tables } from '../tables.ts'

export interface KnownRun {
  readonly id: number
  readonly runUuid: string
  readonly status: RunStatus
  readonly outcome: RunOutcome | ''
  readonly workerId: string
  readonly jobId: string
}

export const findRow = async (db: Kysely<Tables>, ref: RunRef): Promise<RunDetailRow | undefined> => {
  const key = keyOf(ref)
  if (!key) return undefined
  const { rows } = await sql<{ run: RunDetailRow | null }>`
    select find_run(${key.id}::bigint, ${key.uuid}::uuid) as run
  `.execute(db)
  return rows[0]?.run ?? undefined
}

interface RunIdentity {
  readonly id: number
  readonly run_uuid: string
  readonly attempt: number
  readonly workspace: string
}

export const identify = async (db: Kysely<Tables>, ref: RunRef): Promise<RunIdentity | undefined> => {
  const condition = byRef(ref)
  if (!condition) return undefined
  const { rows } = await sql<RunIdentity>`
    select r.id, r.run_uuid, r.attempt, r.workspace from runs r where ${condition}
  `.execute(db)
  return rows[0]
}

/** The runs among `refs`, with their jobs. */
export const identifyAll = async (db: Kysely<Tables>, refs: readonly RunRef[]): Promise<KnownRun[]> => {
  const keys = refs.flatMap((ref) => keyOf(ref) ?? [])
  const ids = keys.flatMap(({ id }) => id ?? [])
  const uuids = keys.flatMap(({ uuid }) => uuid ?? [])
  const { rows } = await sql<KnownRun>`
    select r.id, r.run_uuid as "runUuid", r.status, coalesce(r.outcome, '') as outcome, r.worker_id as "workerId",
           j.job_id as "jobId"
    from (select * from runs where id = any(${ids}::bigint[])
          union select * from runs where run_uuid = any(${uuids}::uuid[])) r
    join jobs j on j.id = r.job_no order by r.id
  `.execute(db)
  return rows
}
