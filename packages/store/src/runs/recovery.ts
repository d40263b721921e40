import type { Priority } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

interface Reaped {
  readonly requeued: number
  readonly failed: number
  readonly cancelled: number
  readonly heldBack: '' | 'gap' | 'mass'
}

/** `upkeep`: the same database with a longer statement timeout. */
export const makeRecovery = (db: Kysely<Tables>, upkeep: Kysely<Tables>) => ({
  /**
   * Takes back runs of workers whose lease has expired: `queued` with epoch+1 and an outbox row, `cancelled` if that was
   * requested, or `failed` after `maxAttempts` lost workers, or after `quarantineAfter` if no other run that was lost with
   * it has lost as many. Does nothing within one lease after a gap in the reaper's turns or a start of the database, or
   * if over 30 % of the running runs would expire at once, unless a turn one lease later confirms it. One master at a
   * time (a row of the table `locks`).
   */
  reapOnce: async (options: {
    maxAttempts: number
    quarantineAfter: number
    leaseMs: number
    limit: number
  }): Promise<Reaped> => {
    const { maxAttempts, quarantineAfter, leaseMs, limit } = options
    return await firstValue<Reaped>(db, { requeued: 0, failed: 0, cancelled: 0, heldBack: '' })`
      select reap_runs(${maxAttempts}::int, ${quarantineAfter}::int, ${leaseMs}::int, ${limit}::int) as reaped
    `
  },
  /** Queued distributed runs without an outbox row, by id after `after`. The caller checks which are in the queue. */
  queuedOutside: async ({
    after,
    limit,
    olderThanMs,
  }: {
    after: number
    limit: number
    olderThanMs: number
  }) => {
    const { rows } = await sql<{ id: number; epoch: number; priority: Priority; requirement_class: string }>`
      select r.id, r.epoch, j.priority, j.requirement_class
      from (
        select id, epoch, job_no from runs
        where status = 'queued' and run_mode = 'distributed' and id > ${after}
          and updated_at < now() - ${olderThanMs} * interval '1 ms'
          and not exists (select 1 from outbox o where o.run_id = runs.id)
        order by id limit ${limit}
      ) r
      join jobs j on j.id = r.job_no
      order by r.id
    `.execute(db)
    return rows.map((row) => ({
      runId: row.id,
      epoch: row.epoch,
      priority: row.priority,
      requirementClass: row.requirement_class,
    }))
  },
  /** Inserts them into the outbox with the same epoch, if they are still queued and have no row. */
  enqueueAgain: (keys: readonly { runId: number; epoch: number }[]): Promise<number> => firstValue(db, 0)`
      with put as (
        insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready)
        select r.id, r.epoch, r.job_no, r.run_mode, priority_rank(j.priority), j.requirement_class, true
        from unnest(${keys.map((key) => key.runId)}::bigint[], ${keys.map((key) => key.epoch)}::int[]) as k(run_id, epoch)
        join runs r on r.id = k.run_id and r.epoch = k.epoch
        join jobs j on j.id = r.job_no
        where r.status = 'queued' and r.run_mode = 'distributed'
        order by r.id
        for share of r
        on conflict do nothing
        returning run_id
      )
      select count(*) as count, case when count(*) > 0 then notify_masters() end from put
    `,
  /** Repairs `ready` and slots of jobs with a concurrency limit; returns the number of repairs. */
  recountSlots: (limit: number): Promise<number> =>
    firstValue(upkeep, 0)`select recount_slots(${limit}::int) as repairs`,
  /** Ends up to `limit` running runs whose cancel was requested more than `olderThanMs` ago. Resolves with their number. */
  forceStaleCancels: (olderThanMs: number, limit: number): Promise<number> => firstValue(db, 0)`
      select coalesce(cardinality(end_runs(jsonb_agg(jsonb_build_object(
        'id', id, 'status', 'cancelled', 'error', 'cancelled on request; its worker did not answer')))), 0) as forced
      from (
        select id from runs
        where status = 'running' and cancel_requested_at < now() - ${olderThanMs} * interval '1 ms'
        order by id limit ${limit}
      ) stale
      having count(*) > 0
    `,
})
