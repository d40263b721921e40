import type { RunStatus, Severity } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { canBeStored } from './text.ts'
import type { Tables } from './tables.ts'

/** A run that did not do all of its work. */
export interface UncleanRun {
  readonly target: string
  readonly status: RunStatus
  readonly outcome: string
  readonly reason: string
}

/** Open findings of one check. */
export interface Issue {
  /** Of one of them, which stands for all. */
  readonly id: number
  readonly severity: Severity
  readonly title: string
  readonly places: readonly string[]
  readonly place_count: number
  readonly first_seen: string
}

/** How long the open findings of a severity have been known. */
export interface Ages {
  readonly severity: Severity
  readonly week: number
  readonly month: number
  readonly quarter: number
  readonly older: number
  readonly oldest: string
}

export interface ReportFacts {
  readonly workspaces: readonly string[]
  readonly workspace_count: number
  readonly targets: readonly string[]
  readonly run_count: number
  readonly clean_count: number
  readonly unclean: readonly UncleanRun[]
  readonly ages: readonly Ages[]
  /** The most severe first. */
  readonly issues: readonly Issue[]
  readonly issue_count: number
  readonly false_positive: number
  readonly accepted: number
}

/** Most names, runs, checks and places that a report lists. */
const NAMES = 20
const RUNS = 100
const ISSUES = 50
const PLACES = 10

export const makeReports = (db: Kysely<Tables>) => ({
  /** The newest ended job with a run in the workspace. */
  lastJob: async (workspace: string): Promise<string | undefined> => {
    if (!canBeStored(workspace)) return undefined
    const { rows } = await sql<{ job_id: string }>`
      select j.job_id from runs r join jobs j on j.id = r.job_no
      where r.workspace = ${workspace} and j.final_counts is not null order by r.id desc limit 1
    `.execute(db)
    return rows[0]?.job_id
  },
  /** About a job and its workspaces, or about its part in one workspace. */
  read: async (jobId: string, workspace?: string): Promise<ReportFacts | undefined> => {
    const { rows } = await sql<ReportFacts>`
      with these as materialized (
        select r.id, r.target, r.workspace, r.status, coalesce(r.outcome, '') as outcome, r.error_message, r.tally
        from runs r join jobs j on j.id = r.job_no
        where j.job_id = ${jobId} and (${workspace ?? null}::text is null or r.workspace = ${workspace ?? null})
      ), spaces as materialized (
        select distinct workspace from these
      ), found as materialized (
        select v.id, v.severity, v.vuln_info, v.vuln_title, v.asset_value, v.first_seen, v.state, v.verdict
        from spaces s join vulnerabilities v on v.workspace = s.workspace
      ), issues as (
        select coalesce(nullif(vuln_info, ''), vuln_title) as check_name, min(severity_rank(severity)) as rank,
               (array_agg(id order by severity_rank(severity), id))[1] as id,
               (array_agg(severity order by severity_rank(severity)))[1] as severity,
               (array_agg(left(coalesce(nullif(vuln_title, ''), vuln_info), 300) order by severity_rank(severity), id))[1]
                 as title,
               (array_agg(distinct left(asset_value, 300)))[1:${sql.lit(PLACES)}] as places,
               count(distinct asset_value) as place_count, min(first_seen) as first_seen
        from found where state = 'open' group by 1
      )
      select array(select workspace from spaces order by 1 limit ${NAMES}) as workspaces,
        (select count(*) from spaces) as workspace_count,
        array(select without_password(target) from these order by id limit ${NAMES}) as targets,
        (select count(*) from these) as run_count,
        (select count(*) from these where outcome = 'clean') as clean_count,
        (select coalesce(jsonb_agg(jsonb_build_object('target', without_password(target), 'status', status,
            'outcome', outcome, 'reason', left(coalesce(nullif(error_message, ''), tally -> 'reasons' ->> 0, ''), 300))
            order by id), '[]')
         from (select * from these where outcome <> 'clean' order by id limit ${RUNS}) u) as unclean,
        (select coalesce(jsonb_agg(to_jsonb(a) order by severity_rank(a.severity)), '[]') from (
           select severity, count(*) filter (where age < interval '7 days') as week,
                  count(*) filter (where age >= interval '7 days' and age < interval '30 days') as month,
                  count(*) filter (where age >= interval '30 days' and age < interval '90 days') as quarter,
                  count(*) filter (where age >= interval '90 days') as older, utc_text(min(first_seen)) as oldest
           from (select severity, first_seen, now() - first_seen as age from found where state = 'open') f
           group by severity) a) as ages,
        (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'severity', severity, 'title', title, 'places', places,
            'place_count', place_count, 'first_seen', utc_text(first_seen)) order by rank, place_count desc, id), '[]')
         from (select * from issues order by rank, place_count desc, id limit ${ISSUES}) i) as issues,
        (select count(*) from issues) as issue_count,
        (select count(*) from found where verdict = 'false_positive') as false_positive,
        (select count(*) from found where verdict = 'accepted') as accepted
    `.execute(db)
    const [facts] = rows
    return facts === undefined || facts.run_count === 0 ? undefined : facts
  },
})
