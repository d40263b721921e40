import { SEVERITIES, type FindingGroup } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.ts'
import { boundedSearch } from './bounded-search.ts'
import { where } from './condition.ts'
import { FACET_RECORDS } from './facets.ts'
import { CHECK, conditionsOf, HOST, searchOf, type VulnerabilityFilter } from './list-vulnerabilities.ts'

export const GROUP_BY = ['check', 'host'] as const
export type GroupBy = (typeof GROUP_BY)[number]

export const GROUP_SORTS = ['severity', 'name', 'value', 'count', 'checks', 'hosts'] as const
type Sort = (typeof GROUP_SORTS)[number]
/** With a minus in reverse. */
export type GroupSort = Sort | `-${Sort}`

const orderOf = (sort: GroupSort, by: GroupBy) => {
  const keys = {
    severity: sql`min(rank)`,
    name: by === 'check' ? sql`coalesce(nullif((min(worst))[2], ''), ${sql.ref(by)})` : sql.ref(by),
    value: sql.ref(by),
    count: sql`sum(count)`,
    checks: sql`count(distinct "check")`,
    hosts: sql`count(distinct host)`,
  }
  const isReverse = sort.startsWith('-')
  const name = GROUP_SORTS.find((each) => each === sort.replace(/^-/, '')) ?? 'severity'
  return sql`${keys[name]} ${isReverse ? sql`desc` : sql`asc`}`
}

export const MAX_GROUPS = 1_000
const MAX_NAME = 512

export interface Groups {
  /** Findings that were grouped: the newest that match. */
  readonly counted: number
  readonly total: number
  readonly groups: FindingGroup[]
}

type Row = FindingGroup & { readonly counted: number; readonly total: number }

export const groupVulnerabilities = (
  db: Kysely<Tables>,
  filter: VulnerabilityFilter,
  by: GroupBy,
  sort: GroupSort = 'severity',
): Promise<Groups> =>
  boundedSearch(db, searchOf(filter), async (on) => {
    const { rows } = await sql<Row>`
      with found as materialized (
        select left(${CHECK}, ${MAX_NAME}) as "check", left(asset_value, ${MAX_NAME}) as asset_value, asset_type,
               severity_rank(severity) as rank, left(vuln_title, ${MAX_NAME}) as title
        from vulnerabilities ${where(conditionsOf(filter))} order by id desc limit ${FACET_RECORDS}
      ), places as materialized (
        select asset_value, asset_type, ${HOST} as host
        from (select distinct asset_value, asset_type from found) each
      ), parts as (
        select "check", host, count(*) as count, min(rank) as rank, min(array[rank::text, title]) as worst
        from found join places using (asset_value, asset_type) group by "check", host
      )
      select ${sql.ref(by)} as value, (min(worst))[2] as title, (${SEVERITIES}::text[])[min(rank)] as severity,
             sum(count)::bigint as count, count(distinct "check") as checks, count(distinct host) as hosts,
             (sum(sum(count)) over ())::bigint as counted, count(*) over () as total
      from parts group by ${sql.ref(by)}
      order by ${orderOf(sort, by)}, min(rank), sum(count) desc, value limit ${MAX_GROUPS}
    `.execute(on)
    return {
      counted: rows[0]?.counted ?? 0,
      total: rows[0]?.total ?? 0,
      groups: rows.map(({ counted: _, total: _t, ...group }) => group),
    }
  })
