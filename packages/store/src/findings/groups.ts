import type { Severity } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.ts'
import { boundedSearch } from './bounded-search.ts'
import { where } from './condition.ts'
import { FACET_RECORDS } from './facets.ts'
import { CHECK, conditionsOf, HOST, searchOf, type VulnerabilityFilter } from './list-vulnerabilities.ts'

export const GROUP_BY = ['check', 'host'] as const
export type GroupBy = (typeof GROUP_BY)[number]

export const MAX_GROUPS = 1_000
const MAX_NAME = 512

/** Findings of one check, or of one host. */
export interface FindingGroup {
  /** Of a check its identifier. '' are findings that have none. */
  readonly value: string
  /** Of the worst finding. */
  readonly title: string
  readonly severity: Severity
  readonly count: number
  readonly checks: number
  readonly hosts: number
}

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
): Promise<Groups> =>
  boundedSearch(db, searchOf(filter), async (on) => {
    const { rows } = await sql<Row>`
      with found as materialized (
        select left(${CHECK}, ${MAX_NAME}) as "check", left(${HOST}, ${MAX_NAME}) as host, severity, vuln_title
        from vulnerabilities ${where(conditionsOf(filter))} order by id desc limit ${FACET_RECORDS}
      )
      select ${sql.ref(by)} as value,
             left((array_agg(vuln_title order by severity_rank(severity)))[1], ${MAX_NAME}) as title,
             (array_agg(severity order by severity_rank(severity)))[1] as severity, count(*) as count,
             count(distinct "check") as checks, count(distinct host) as hosts,
             (sum(count(*)) over ())::bigint as counted, count(*) over () as total
      from found group by ${sql.ref(by)}
      order by min(severity_rank(severity)), count(*) desc, value limit ${MAX_GROUPS}
    `.execute(on)
    return {
      counted: rows[0]?.counted ?? 0,
      total: rows[0]?.total ?? 0,
      groups: rows.map(({ counted: _, total: _t, ...group }) => group),
    }
  })
