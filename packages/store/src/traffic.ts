import type { HostSearch, Traffic } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { storable } from './text.ts'
import type { Tables } from './tables.ts'

const MOST_STEPS = 100

interface TrafficFilter extends HostSearch {
  readonly from: Date
  readonly to: Date
}

type Step = Omit<Traffic['steps'][number], 'sends_nothing'> & { readonly type: string }

interface FoundTraffic {
  /** Newest first. */
  readonly data: (Omit<Traffic, 'steps'> & { readonly steps: readonly Step[] })[]
  /** There are more. */
  readonly truncated: boolean
  /** When the oldest run that is kept was created; null: there is none. */
  readonly oldestRun: string | null
}

/** Which runs may have sent traffic to a host. */
export const makeTraffic = (db: Kysely<Tables>) => ({
  async find({ exact, prefixes, hosts, from, to }: TrafficFilter, limit: number): Promise<FoundTraffic> {
    const texts = (values: readonly string[]) => values.map(storable)
    const { rows } = await sql<FoundTraffic['data'][number]>`
      with found as (
        select id, target as host, 'target' as place from runs where target = any(${texts(exact)}::text[])
        union all
        select r.id, r.target, 'target' from unnest(${texts(prefixes)}::text[]) as p(prefix)
        cross join lateral (
          select id, target from runs
          where target > p.prefix collate "C" and target < p.prefix || U&'\\+10FFFF' collate "C" offset 0) r
        union all
        select run_id, host, place from destinations where host = any(${texts(hosts)}::text[])
      ), picked as (
        select id, jsonb_agg(distinct jsonb_build_object('host', host, 'place', place)) as destinations
        from found group by id
      )
      select r.run_uuid, j.job_id, r.workflow_name as workflow, r.target, r.workspace, r.status, r.started_at,
             r.completed_at, p.destinations, coalesce(w.name, q.name, '') as worker,
             coalesce(w.hostname, q.hostname, '') as hostname, coalesce(i.address, '') as egress_address,
             case when j.scope_no is null then '' else coalesce(s.name, '(removed)') end as scope,
             coalesce((
               select jsonb_agg(to_jsonb(t) - '{attempt,seq}'::text[] order by t.attempt, t.seq)
               from (select attempt, seq, name, type, module, command, started_at, completed_at from steps
                     where run_id = r.id and started_at <= ${to} and coalesce(completed_at, now()) >= ${from}
                       and not (status = 'skipped' and command = '')
                     order by attempt, seq limit ${MOST_STEPS}) t), '[]') as steps
      from picked p
      join runs r on r.id = p.id
      join jobs j on j.id = r.job_no
      left join workers w on w.id = r.worker_id
      left join past_workers q on q.id = r.worker_id
      left join cloud_instances i on i.id = r.instance_no
      left join scan_scopes s on s.id = j.scope_no
      where r.started_at <= ${to} and coalesce(r.completed_at, now()) >= ${from}
      order by r.id desc limit ${limit + 1}`.execute(db)
    const { rows: oldest } = await sql<{ created_at: string }>`
      select created_at from runs order by id limit 1`.execute(db)
    return {
      data: rows.slice(0, limit),
      truncated: rows.length > limit,
      oldestRun: oldest[0]?.created_at ?? null,
    }
  },
})
