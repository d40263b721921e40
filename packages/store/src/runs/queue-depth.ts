import type { InfraStatus, Priority, RunMode } from '@scanfarm/contracts'
import type { Kysely } from 'kysely'
import type { Totals } from '../totals.ts'
import type { Tables } from '../tables.ts'
import { allRows } from '../rows.ts'

/** Queued runs that wait for the same. */
export interface WaitingGroup {
  readonly run_mode: RunMode
  readonly priority: Priority
  readonly requirement_class: string
  /** Of cloud runs, otherwise null. */
  readonly infra_id: string | null
  readonly infra_status: InfraStatus | null
  readonly waiting: number
  /** Of these, runs that wait for a slot of their job. */
  readonly held: number
  /** Of these, runs that lost a worker before: a worker starts one of them at a time. */
  readonly suspects: number
  readonly oldest_at: string
}

/**
 * All queued runs by what they wait for, the most urgent and oldest groups first. One pass over the queued runs, whose
 * share of the database is bounded by `totals`: with more than 10,000 the answer is up to 30 seconds old.
 */
export const waitingGroups = (db: Kysely<Tables>, totals: Totals): Promise<WaitingGroup[]> =>
  totals.group('queue', () => readGroups(db), sizeOf)

/** Called by masters every few seconds, so that no request waits for the pass over very many runs. */
export const keepWaitingGroups = (db: Kysely<Tables>, totals: Totals): Promise<void> =>
  totals.keep('queue', () => readGroups(db), sizeOf)

const sizeOf = (groups: readonly WaitingGroup[]): number =>
  groups.reduce((sum, { waiting }) => sum + waiting, 0)

const readGroups = (db: Kysely<Tables>): Promise<WaitingGroup[]> => allRows(db)<WaitingGroup>`
    with queued as materialized (
      select job_no, count(*) as waiting, count(*) filter (where crashes > 0) as suspects, min(created_at) as oldest_at
      from runs where status = 'queued' group by job_no
    ), held as materialized (
      select job_no, count(*) as held from outbox where not ready group by job_no
    )
    select j.run_mode, j.priority, j.requirement_class, f.infra_id, f.status as infra_status,
           sum(q.waiting)::bigint as waiting, coalesce(sum(h.held), 0)::bigint as held,
           sum(q.suspects)::bigint as suspects, min(q.oldest_at) as oldest_at
    from queued q join jobs j on j.id = q.job_no left join held h on h.job_no = q.job_no
    left join cloud_infras f on f.id = j.infra_no
    group by 1, 2, 3, 4, 5
    order by priority_rank(j.priority), min(q.oldest_at)
  `
