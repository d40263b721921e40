import {
  PRIORITY_RANK,
  type CloudFigures,
  type FailingWorkflow,
  type Severity,
  type WorkerFigures,
} from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { keepWaitingGroups, waitingGroups, type WaitingGroup } from './runs/queue-depth.ts'
import type { Totals } from './totals.ts'
import { readOffers, type Offers } from './runs/waiting-reason.ts'
import type { Tables } from './tables.ts'
import { allRows, firstValue } from './rows.ts'

/** Events that one transaction counts. */
const EVENTS_AT_ONCE = 5_000
const KEEP_DAYS = 35
/** Workflows of an answer. */
const WORKFLOWS = 10
/** Workers that are compared with the needs of waiting runs. */
const OPEN_WORKERS = 1_000

export type SeriesKind = 'run' | 'finding' | 'queue'

export interface SeriesPoint {
  readonly at: string
  readonly kind: SeriesKind
  readonly label: string
  /** A sum over the bucket; of `queue` the highest depth. */
  readonly value: number
}

/** A live worker that may claim runs. */
export interface OpenWorker {
  readonly id: string
  readonly name: string
  readonly capabilities: string[]
  readonly free_slots: number
}

/** Figures of the whole farm. Counts by minute are filled in the background: the end of a run costs no more. */
export const makeFigures = (db: Kysely<Tables>, totals: Totals) => ({
  /** All queued runs by what they wait for. */
  waiting: (): Promise<WaitingGroup[]> => waitingGroups(db, totals),
  /** Keeps `waiting` from counting many runs while a request waits. */
  keepWaiting: (): Promise<void> => keepWaitingGroups(db, totals),
  offers: (): Promise<Offers> => readOffers(db),
  openWorkers: (): Promise<OpenWorker[]> => allRows(db)<OpenWorker>`
      select id, name, capabilities, greatest(slots - busy, 0) as free_slots from workers
      where kind = 'worker' and lost_at is null and lease_until > now() and wanted = 'running' and not draining
      order by name, id limit ${OPEN_WORKERS}
    `,
  workers: async (): Promise<WorkerFigures> => {
    const { rows } = await sql<WorkerFigures>`
      select count(*) filter (where live and open) as live, count(*) filter (where live and not open) as draining,
             count(*) filter (where not live) as lost,
             coalesce(sum(slots) filter (where live and open), 0)::bigint as slots,
             coalesce(sum(least(busy, slots)) filter (where live and open), 0)::bigint as busy_slots
      from (select slots, busy, lost_at is null and lease_until > now() as live,
                   wanted = 'running' and not draining as open from workers) w
    `.execute(db)
    return rows[0] ?? { live: 0, draining: 0, lost: 0, slots: 0, busy_slots: 0 }
  },
  cloud: async (): Promise<CloudFigures> => {
    const { rows } = await sql<CloudFigures>`
      select count(distinct infra_no) filter (where open)::int as infras, count(*) filter (where open)::int as machines,
             coalesce(sum(price) filter (where open), 0)::float8 as hourly_cost,
             coalesce(sum(price * extract(epoch from ended - begun) / 3600), 0)::float8 as cost_24h,
             coalesce(sum(price * hours) filter (where booked), 0)::float8 as booked_cost
      from (
        select i.infra_no, i.destroyed_at is null as open, coalesce(f.hourly_price, 0) as price, f.hours,
               i.status not in ('destroyed', 'failed') as booked,
               greatest(i.created_at, now() - interval '24 h') as begun, coalesce(i.destroyed_at, now()) as ended
        from cloud_instances i join cloud_infras f on f.id = i.infra_no
        where (i.status not in ('destroyed', 'failed') and i.destroyed_at is null)
           or i.destroyed_at > now() - interval '24 h'
      ) m
    `.execute(db)
    return rows[0] ?? { infras: 0, machines: 0, hourly_cost: 0, cost_24h: 0, booked_cost: 0 }
  },
  /** Counts further events. Returns whether there are more; any number of masters may call it. */
  count: async (): Promise<boolean> => {
    const seen = await firstValue(db, 0)`select count_events(${EVENTS_AT_ONCE}) as seen`
    return seen === EVENTS_AT_ONCE
  },
  /** Records the depth of the queue, once a minute, and deletes old counts. */
  sample: async (): Promise<void> => {
    const isDue = await firstValue(db, false)`
      select not exists (select from farm_series where minute = date_trunc('minute', now()) and kind = 'queue') as due
    `
    if (!isDue) return
    const groups = await waitingGroups(db, totals)
    const depths = Object.keys(PRIORITY_RANK).map((priority) =>
      groups.reduce((sum, group) => sum + (group.priority === priority ? group.waiting : 0), 0),
    )
    await sql`
      insert into farm_series (minute, kind, label, count)
      select date_trunc('minute', now()), 'queue', label, count
      from unnest(${Object.keys(PRIORITY_RANK)}::text[], ${depths}::bigint[]) as u(label, count)
      on conflict do nothing
    `.execute(db)
    await db
      .deleteFrom('farm_series')
      .where('minute', '<', sql<string>`now() - ${KEEP_DAYS} * interval '1 day'`)
      .execute()
  },
  /** Points of buckets of `bucketMs` that begin at `from` or later. Empty buckets have none. */
  read: (from: Date, bucketMs: number): Promise<SeriesPoint[]> => allRows(db)<SeriesPoint>`
      select date_bin(${bucketMs} * interval '1 ms', minute, timestamptz 'epoch') as at, kind, label,
             case kind when 'queue' then max(count) else sum(count)::bigint end as value
      from farm_series
      where minute >= ${from.toISOString()}::timestamptz and kind in ('run', 'finding', 'queue')
      group by 1, 2, 3 order by 1, 2, 3
    `,
  /** New findings of the last 24 hours by severity. */
  newFindings: async (): Promise<Partial<Record<Severity, number>>> => {
    const { rows } = await sql<{ label: Severity; n: number }>`
      select label, sum(count)::bigint as n from farm_series
      where minute >= now() - interval '24 h' and kind = 'finding' group by label
    `.execute(db)
    return Object.fromEntries(rows.map(({ label, n }) => [label, n]))
  },
  /** The workflows with most failed runs in the last 24 hours. */
  failingWorkflows: (): Promise<FailingWorkflow[]> => allRows(db)<FailingWorkflow>`
      select label as workflow_name, sum(count) filter (where kind = 'workflow')::bigint as ended,
             sum(count) filter (where kind = 'workflow_failed')::bigint as failed
      from farm_series
      where minute > now() - interval '24 h' and kind in ('workflow', 'workflow_failed')
      group by label having sum(count) filter (where kind = 'workflow_failed') > 0
      order by failed desc, label limit ${WORKFLOWS}
    `,
  /** Runs that ended in the last five whole minutes. */
  endedLately: (): Promise<number> => firstValue(db, 0)`
      select coalesce(sum(count), 0)::bigint as n from farm_series
      where minute >= date_trunc('minute', now()) - interval '5 min' and minute < date_trunc('minute', now())
        and kind = 'run'
    `,
})
