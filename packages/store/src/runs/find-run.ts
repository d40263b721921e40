import type { RunOutcome, RunStatus } from '@scanfarm/contracts'
import type { Kysely } from 'kysely'
import { byRef, keyOf, type RunDetailRow, type RunRef } from './run-rows.ts'
import type { Tables } from '../tables.ts'
import { allRows, firstRow, firstValue } from '../rows.ts'

export interface KnownRun {
  readonly id: number
  readonly runUuid: string
  readonly status: RunStatus
  readonly outcome: RunOutcome | ''
  readonly jobId: string
}

export const findRow = async (db: Kysely<Tables>, ref: RunRef): Promise<RunDetailRow | undefined> => {
  const key = keyOf(ref)
  if (!key) return undefined
  return await firstValue<RunDetailRow | undefined>(db, undefined)`
    select find_run(${key.id}::bigint, ${key.uuid}::uuid) as run
  `
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
  return await firstRow(db)<RunIdentity>`
    select r.id, r.run_uuid, r.attempt, r.workspace from runs r where ${condition}
  `
}

/** The runs among `refs`, with their jobs. */
export const identifyAll = async (db: Kysely<Tables>, refs: readonly RunRef[]): Promise<KnownRun[]> => {
  const keys = refs.flatMap((ref) => keyOf(ref) ?? [])
  const ids = keys.flatMap(({ id }) => id ?? [])
  const uuids = keys.flatMap(({ uuid }) => uuid ?? [])
  return await allRows(db)<KnownRun>`
    select r.id, r.run_uuid as "runUuid", r.status, coalesce(r.outcome, '') as outcome, j.job_id as "jobId"
    from (select * from runs where id = any(${ids}::bigint[])
          union select * from runs where run_uuid = any(${uuids}::uuid[])) r
    join jobs j on j.id = r.job_no order by r.id
  `
}
