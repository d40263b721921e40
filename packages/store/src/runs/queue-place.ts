import { PRIORITY_RANK, type QueuePlace, type RunMode } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { waitingGroups, type WaitingGroup } from './queue-depth.ts'
import type { RunDetailRow } from './run-rows.ts'
import type { Totals } from '../totals.ts'
import type { Tables } from '../tables.ts'

/** Older runs that are counted. */
export const COUNTED_BEFORE = 1_000
/** Older queued runs, of any kind, that are read to count them. */
const READ_BEFORE = 10_000

interface Class {
  readonly run_mode: RunMode
  readonly requirement_class: string
  /** "" and null: none. */
  readonly infra_id: string | null
}

const waitsForTheSame = (one: Class, other: Class): boolean =>
  one.run_mode === other.run_mode &&
  one.requirement_class === other.requirement_class &&
  (one.infra_id ?? '') === (other.infra_id ?? '')

const sum = (groups: readonly WaitingGroup[]): number =>
  groups.reduce((total, { waiting }) => total + waiting, 0)

/** The place of a queued run. Reads a bounded part of the queue; counts of a large queue may be up to 30 seconds old. */
export async function queuePlace(db: Kysely<Tables>, totals: Totals, run: RunDetailRow): Promise<QueuePlace> {
  const [groups, before] = await Promise.all([waitingGroups(db, totals), countOlder(db, run)])
  const same = groups.filter((group) => waitsForTheSame(group, run))
  const rank = PRIORITY_RANK[run.priority]
  const older = Math.min(before.older, COUNTED_BEFORE)
  return {
    position: older + 1,
    exact: before.complete && older === before.older,
    waiting: Math.max(older + 1, sum(same.filter(({ priority }) => priority === run.priority))),
    more_urgent: sum(same.filter(({ priority }) => PRIORITY_RANK[priority] < rank)),
  }
}

/** The queued runs before `run` with the same job columns, among the nearest ones of the index on (status, id). */
const countOlder = async (db: Kysely<Tables>, run: RunDetailRow) => {
  const { rows } = await sql<{ read: number; older: number }>`
    with before as materialized (
      select job_no from runs where status = 'queued' and id < ${run.id} order by id desc limit ${READ_BEFORE}
    ), by_job as materialized (
      select job_no, count(*) as n from before group by job_no
    )
    select coalesce(sum(b.n), 0)::bigint as read, coalesce(sum(b.n) filter (
      where j.priority = mine.priority and j.run_mode = mine.run_mode and j.requirement_class = mine.requirement_class
        and j.infra_no is not distinct from mine.infra_no), 0)::bigint as older
    from by_job b join jobs j on j.id = b.job_no cross join (select * from jobs where id = ${run.job_no}) mine
  `.execute(db)
  const { read = 0, older = 0 } = rows[0] ?? {}
  return { older, complete: read < READ_BEFORE }
}
