import type { Priority } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { Recovery } from './store.ts'

/** `upkeep`: the same database, for what may take long. */
export const makeRecovery = (db: Kysely<unknown>, upkeep: Kysely<unknown>): Recovery => ({
  reapOnce: async ({ maxAttempts, quarantineAfter, leaseMs, limit }) => {
    type Reaped = Awaited<ReturnType<Recovery['reapOnce']>>
    const { rows } = await sql<{ reaped: Reaped }>`
      select reap_runs(${maxAttempts}::int, ${quarantineAfter}::int, ${leaseMs}::int, ${limit}::int) as reaped
    `.execute(db)
    return rows[0]?.reaped ?? { requeued: 0, failed: 0, cancelled: 0, heldBack: '' }
  },
  queuedOutside: async ({ after, limit, olderThanMs }) => {
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
  enqueueAgain: async (keys) => {
    const { rows } = await sql<{ count: number }>`
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
      select count(*) as count, case when count(*) > 0 then wake_masters() end from put
    `.execute(db)
    return rows[0]?.count ?? 0
  },
  recountSlots: async (limit) => {
    const { rows } = await sql<{ repairs: number }>`select recount_slots(${limit}::int) as repairs`.execute(
      upkeep,
    )
    return rows[0]?.repairs ?? 0
  },
  forceStaleCancels: async (olderThanMs) => {
    const { rows } = await sql<{ forced: number }>`
      select coalesce(cardinality(end_runs(jsonb_agg(jsonb_build_object(
        'id', id, 'status', 'cancelled', 'error', 'cancelled on request; its worker did not answer')))), 0) as forced
      from runs
      where status = 'running' and cancel_requested_at < now() - ${olderThanMs} * interval '1 ms'
      having count(*) > 0
    `.execute(db)
    return rows[0]?.forced ?? 0
  },
})
