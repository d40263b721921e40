import { PRIORITY_RANK, type Priority } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.ts'
import { allRows } from '../rows.ts'

const BY_RANK: readonly Priority[] = (Object.keys(PRIORITY_RANK) as Priority[]).sort(
  (a, b) => PRIORITY_RANK[a] - PRIORITY_RANK[b],
)

const MAX_INT = 2 ** 31 - 1

interface TakenRow {
  readonly run_id: number
  readonly epoch: number
  readonly rank: number
  readonly class: string
  readonly job_no: number
  readonly owner: string
  readonly weight: number
}

interface TakeOptions {
  readonly classes: readonly string[]
  readonly capacity: Readonly<Record<Priority, number>>
  readonly limit: number
  readonly staleMs: number
}

export interface OutboxRow {
  readonly runId: number
  readonly epoch: number
  readonly priority: Priority
  readonly requirementClass: string
  /** Of its job, in what workers start. */
  readonly share: { readonly jobNo: number; readonly owner: string; readonly weight: number }
}

const priorityOfRank = (rank: number): Priority => {
  const priority = BY_RANK.find((one) => PRIORITY_RANK[one] === rank)
  if (!priority) throw new RangeError(`no priority has the rank ${rank}`)
  return priority
}

const toOutboxRow = (row: TakenRow): OutboxRow => ({
  runId: row.run_id,
  epoch: row.epoch,
  priority: priorityOfRank(row.rank),
  requirementClass: row.class,
  share: { jobNo: row.job_no, owner: row.owner, weight: row.weight },
})

export const makeOutbox = (db: Kysely<Tables>) => ({
  /**
   * Takes ready rows of the classes by priority, then by the shares of their jobs, and marks them as sent in a short transaction
   * (`for update skip locked`). Rows that were marked more than `staleMs` ago are taken again. `capacity`: most rows of each
   * priority.
   */
  take: async ({ classes, capacity, limit, staleMs }: TakeOptions): Promise<OutboxRow[]> =>
    (
      await allRows(db)<TakenRow>`
        select run_id, epoch, rank, class, job_no, owner, weight
        from take_outbox(${classes}::text[], ${BY_RANK.map((priority) => Math.min(capacity[priority], MAX_INT))}::int[], ${limit}::int, ${staleMs}::int)
      `
    ).map(toOutboxRow),
  /** Deletes rows whose messages are in the queue, unless a claim has put them back since. */
  remove: async (rows: readonly { runId: number; epoch: number }[]): Promise<void> => {
    await sql`
      select remove_outbox(${rows.map((row) => row.runId)}::bigint[], ${rows.map((row) => row.epoch)}::int[])
    `.execute(db)
  },
  /** Classes with outbox rows, and their counts. */
  classes: (): Promise<{ requirementClass: string; ready: number; waiting: number }[]> => allRows(db)`
    select class as "requirementClass", count(*) filter (where ready) as ready,
           count(*) filter (where not ready) as waiting
    from outbox where run_mode = 'distributed' group by class order by class
  `,
  /**
   * Classes of which `take` may return rows, including sent ones. Skips from class to class along the index of `take`, so
   * that its cost does not depend on the number of rows.
   */
  takeableClasses: async (): Promise<string[]> => {
    const rows = await allRows(db)<{ class: string }>`
      with recursive ready as (
        (select class from outbox
         where ready and sent_at is null and run_mode = 'distributed' order by class limit 1)
        union all
        select (select o.class from outbox o
                where o.ready and o.sent_at is null and o.run_mode = 'distributed' and o.class > r.class
                order by o.class limit 1)
        from ready r where r.class is not null
      )
      select class from ready where class is not null
      union
      select class from outbox where sent_at is not null and run_mode = 'distributed'
    `
    return rows.map((row) => row.class)
  },
})
