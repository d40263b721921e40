import type { HostFacts } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { conditionsOf as assetConditions } from './assets.ts'
import { boundedSearch } from '../findings/bounded-search.ts'
import { where } from '../findings/condition.ts'
import { conditionsOf } from '../findings/list-vulnerabilities.ts'
import type { Tables } from '../tables.ts'
import { firstRow } from '../rows.ts'

/** Most assets, and most findings, of a host that are read, the newest. */
export const HOST_RECORDS = 10_000
const MAX_VALUES = 500
const MAX_RUNS = 100

export const makeHosts = (db: Kysely<Tables>) => ({
  /** Undefined: no asset and no finding is at this host. */
  find: (host: string, workspaces: readonly string[] | undefined): Promise<HostFacts | undefined> =>
    boundedSearch(db, { part: host, parameter: 'host' }, (on) => find(on, host, workspaces)),
})

const find = async (
  db: Kysely<Tables>,
  host: string,
  workspaces: readonly string[] | undefined,
): Promise<HostFacts | undefined> => {
  const filter = { host, workspaces }
  const row = await firstRow(db)<HostFacts & { known: boolean }>`
    with a as materialized (
      select id, workspace, asset_type, host_of(coalesce(nullif(url, ''), asset_value)) as name, host_ip, title,
             technologies, open_ports, state, first_seen, first_run
      from assets ${where(assetConditions(filter))} order by id desc limit ${HOST_RECORDS}
    ), v as materialized (
      select id, workspace, severity, state, first_run
      from vulnerabilities ${where(conditionsOf(filter))} order by id desc limit ${HOST_RECORDS}
    ), ports as (
      select distinct on (port, a.workspace) port, a.workspace, a.state, utc_text(a.first_seen) as first_seen,
             utc_text(t.last_seen) as last_seen, case a.asset_type when 'port' then a.title else '' end as service
      from a join asset_sightings t on t.asset_id = a.id cross join unnest(a.open_ports) port
      order by port, a.workspace, (a.asset_type = 'port') desc, a.id desc
    ), seen as (
      select first_run as run from a union select first_run from v
      union select t.last_run from a join asset_sightings t on t.asset_id = a.id
      union select t.last_run from v join finding_sightings t on t.finding_id = v.id
      union (select id from runs where target = ${host} ${workspaces ? sql`and workspace = any(${workspaces}::text[])` : sql``}
             order by id desc limit ${MAX_RUNS})
    ), newest as (
      select r.run_uuid, r.workflow_name, r.target, r.status, utc_text(r.started_at) as started_at,
             utc_text(r.completed_at) as completed_at, r.id
      from seen join runs r on r.id = seen.run order by r.id desc limit ${MAX_RUNS}
    )
    select exists (select from a) or exists (select from v) as known,
      array(select distinct name from a where name <> '' and address_of(name) is null order by 1 limit ${MAX_VALUES}) as names,
      array(select address from (select name as address from a where address_of(name) is not null
                                 union select host_ip from a where host_ip <> '') x
            order by 1 limit ${MAX_VALUES}) as addresses,
      array(select workspace from a union select workspace from v order by 1 limit ${MAX_VALUES}) as workspaces,
      array(select distinct value from a, unnest(technologies) value where state = 'open' order by 1
            limit ${MAX_VALUES}) as technologies,
      (select count(*) from a)::int as assets,
      coalesce((select jsonb_agg(to_jsonb(p) order by substring(port from '^\\d{1,5}')::int, port, workspace)
                from (select * from ports limit ${MAX_VALUES}) p), '[]') as ports,
      coalesce((select jsonb_object_agg(severity, n) from (
        select severity, count(*) as n from v where state = 'open' group by severity) s), '{}') as findings,
      coalesce((select jsonb_agg(to_jsonb(n) - 'id' order by id desc) from newest n), '[]') as runs
  `
  if (row?.known !== true) return undefined
  const { known: _, ...found } = row
  return found
}
