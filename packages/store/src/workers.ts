import type { Worker } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { Workers } from './store.ts'

const MAX_LISTED_RUNS = 1_000

export const makeWorkers = (db: Kysely<unknown>): Workers => ({
  list: async () => {
    const { rows } = await sql<Worker>`
      select w.id, w.name, w.hostname, w.pid, w.version, w.kind, w.slots, w.capabilities, w.joined_at, w.last_heartbeat,
             case when w.lost_at is not null or w.lease_until < now() then 'lost'
                  when w.draining then 'draining'
                  when w.busy > 0 or cardinality(r.uuids) > 0 then 'busy' else 'idle' end as status,
             greatest(w.busy, cardinality(r.uuids)) as busy_slots,
             r.uuids as current_runs
      from workers w
      cross join lateral (
        select array(select run_uuid::text from runs where worker_id = w.id and status = 'running'
                     order by id limit ${MAX_LISTED_RUNS}) as uuids
      ) r
      order by w.joined_at desc, w.id
    `.execute(db)
    return rows
  },
  liveCapabilities: async () => {
    const { rows } = await sql<{ capabilities: string[] }>`
      select capabilities from workers where kind = 'worker' and lost_at is null and lease_until > now() order by id
    `.execute(db)
    return rows.map((row) => row.capabilities)
  },
  prune: async (olderThanMs) => {
    const { numAffectedRows } = await sql`
      delete from workers w
      where greatest(lost_at, lease_until) < now() - ${olderThanMs} * interval '1 ms' and lost_at is not null
        and not exists (select 1 from runs where worker_id = w.id and status = 'running')
    `.execute(db)
    return Number(numAffectedRows ?? 0)
  },
})
