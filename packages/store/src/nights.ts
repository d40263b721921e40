import type { RunOutcome, Seen, Severity, Verdict } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { jobNoOf } from './job-no.ts'
import { canBeStored } from './text.ts'
import type { Tables } from './tables.ts'

export type SeverityCounts = Readonly<Partial<Record<Severity, number>>>

/** Findings that changed, by severity; a severity without findings is left out. */
export interface ChangeCounts {
  readonly new: SeverityCounts
  readonly back: SeverityCounts
  readonly gone: SeverityCounts
}

export interface NightJob {
  readonly job_id: string
  readonly created_at: string
  readonly ended_at: string
  readonly outcome: RunOutcome
  readonly is_cancelled: boolean
  readonly target_count: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  readonly clean: number
  readonly partial: number
  readonly nothing_done: number
}

/** What the last job of a schedule did and found. */
export interface Night {
  /** The newest job, if it has not ended. */
  readonly running: { readonly job_id: string; readonly created_at: string } | null
  readonly last: NightJob | null
  /** The job before the last one. */
  readonly previous: NightJob | null
  readonly findings: ChangeCounts
  /** Open findings of the workspaces of its last job. */
  readonly open: SeverityCounts
  /** Those of them that the last scan could not test or reach. */
  readonly not_tested: number
  /** The first of these workspaces by name, and how many there are. */
  readonly workspace: string
  readonly workspace_count: number
}

const CHANGE_KINDS = ['new', 'back', 'gone', 'not_tested'] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

export interface ChangedFinding {
  readonly id: number
  readonly severity: Severity
  readonly vuln_info: string
  readonly vuln_title: string
  readonly asset_value: string
  readonly workspace: string
  readonly seen: Seen
  readonly seen_reason: string
  readonly verdict: Verdict
  readonly back_at: string | null
}

/** The findings that a job changed, the most severe first. The lists may be shortened, the counts are not. */
export interface JobChanges {
  readonly counts: ChangeCounts & { readonly not_tested: SeverityCounts }
  readonly findings: Readonly<Record<ChangeKind, ChangedFinding[]>>
}

export const makeNights = (db: Kysely<Tables>) => ({
  /** Writes findings.digest for full hours and findings.reminder for days that have begun; any master calls it. */
  tell: async (): Promise<void> => {
    await sql`select tell_findings()`.execute(db)
  },
  /** By the ids of the schedules. */
  of: (schedules: readonly string[]): Promise<ReadonlyMap<string, Night>> => nightsOf(db, schedules),
  /**
   * What changed among the findings of a job: by its own runs, or, with `since`, by all runs in its workspaces after the end of
   * that earlier job. `limit`: most findings of each list; `workspace`: only its
   * findings. Undefined: one of the jobs does not exist.
   */
  changes: (
    jobId: string,
    since: string | undefined,
    limit: number,
    workspace?: string,
  ): Promise<JobChanges | undefined> => changesOf(db, jobId, since, limit, workspace),
})

const JOB = sql`json_build_object('job_id', job_id, 'created_at', utc_text(created_at),
  'outcome', job_outcome(final_counts, target_count), 'is_cancelled', cancel_requested_at is not null,
  'target_count', target_count)::jsonb || final_counts as job`

/** The ended job of schedule `s` that is the newest with a lower number than `below`. */
const endedJob = (below: RawBuilder<unknown>) => sql`
  select id, ${JOB} from jobs
  where schedule_id = s.id and schedule_id <> '' and final_counts is not null and id < ${below} order by id desc limit 1`

const UNTESTED = sql`('not_tested', 'unreachable')`

const nightsOf = async (
  db: Kysely<Tables>,
  schedules: readonly string[],
): Promise<ReadonlyMap<string, Night>> => {
  const { rows } = await sql<Night & { id: string }>`
    select s.id, case when n.final_counts is null and n.id is not null
             then json_build_object('job_id', n.job_id, 'created_at', utc_text(n.created_at)) end as running,
           l.job as last, p.job as previous,
           case when l.id is null then '{"new": {}, "back": {}, "gone": {}}' else job_findings(l.id) end as findings,
           o.open, o.not_tested, coalesce(w.first, '') as workspace, coalesce(cardinality(w.names), 0) as workspace_count
    from unnest(${schedules}::text[]) s(id)
    left join lateral (
      select id, job_id, created_at, final_counts from jobs where schedule_id = s.id and schedule_id <> ''
      order by id desc limit 1) n on true
    left join lateral (${endedJob(sql`n.id + 1`)}) l on true
    left join lateral (${endedJob(sql`l.id`)}) p on true
    left join lateral (
      select min(workspace) as first, array_agg(workspace) as names
      from (select distinct workspace from runs where job_no = coalesce(l.id, n.id)) each) w on true
    cross join lateral (
      select coalesce(jsonb_object_agg(severity, count), '{}') as open, coalesce(sum(untested), 0)::bigint as not_tested
      from (select v.severity, count(*), count(*) filter (where v.seen in ${UNTESTED}) as untested
            from unnest(w.names) as each(workspace) join vulnerabilities v on v.workspace = each.workspace
            where v.state = 'open' group by v.severity) by_severity) o
  `.execute(db)
  return new Map(rows.map(({ id, ...night }) => [id, night]))
}

const changesOf = async (
  db: Kysely<Tables>,
  jobId: string,
  since: string | undefined,
  limit: number,
  workspace?: string,
): Promise<JobChanges | undefined> => {
  if (!canBeStored(jobId + (since ?? ''))) return undefined
  const [jobNo, after] = await Promise.all([
    jobNoOf(db, jobId),
    since === undefined ? undefined : jobNoOf(db, since),
  ])
  if (jobNo === undefined || (since !== undefined && after === undefined)) return undefined
  const jobs =
    after === undefined
      ? sql`array[${jobNo}::bigint]`
      : sql`array(select distinct r.job_no from runs r where r.workspace in (select workspace from workspaces)
                    and r.job_no > ${after} and r.job_no <= ${jobNo})`
  const { rows } = await sql<{ kind: ChangeKind; counts: SeverityCounts; findings: ChangedFinding[] }>`
    with workspaces as materialized (
      select distinct workspace from runs
      where job_no = ${jobNo} and (${workspace ?? null}::text is null or workspace = ${workspace ?? null})
    ), changed as materialized (
      select c.kind, c.id, c.severity from changed_findings(${jobs}) c
      where ${workspace ?? null}::text is null
         or (select workspace from vulnerabilities where id = c.id) = ${workspace ?? null}
      union all
      select 'not_tested', v.id, v.severity from workspaces w join vulnerabilities v on v.workspace = w.workspace
      where v.state = 'open' and v.seen in ${UNTESTED}
    ), numbered as (
      select *, row_number() over (partition by kind order by severity_rank(severity), id) as n from changed
    )
    select k.kind,
           coalesce((select jsonb_object_agg(severity, count) from (
             select severity, count(*) from changed where kind = k.kind group by severity) c), '{}') as counts,
           coalesce((
             select jsonb_agg(jsonb_build_object('id', v.id, 'severity', v.severity, 'vuln_info', left(v.vuln_info, ${TEXT}),
               'vuln_title', left(v.vuln_title, ${TEXT}), 'asset_value', left(v.asset_value, ${TEXT}),
               'workspace', v.workspace, 'seen', v.seen, 'seen_reason', v.seen_reason, 'verdict', v.verdict, 'back_at', utc_text(v.back_at)) order by c.n)
             from numbered c join vulnerabilities v on v.id = c.id where c.kind = k.kind and c.n <= ${limit}), '[]') as findings
    from unnest(${CHANGE_KINDS}::text[]) k(kind)
  `.execute(db)
  const of = (word: ChangeKind) => rows.find(({ kind }) => kind === word)
  const counts = (word: ChangeKind): SeverityCounts => of(word)?.counts ?? {}
  return {
    counts: {
      new: counts('new'),
      back: counts('back'),
      gone: counts('gone'),
      not_tested: counts('not_tested'),
    },
    findings: {
      new: of('new')?.findings ?? [],
      back: of('back')?.findings ?? [],
      gone: of('gone')?.findings ?? [],
      not_tested: of('not_tested')?.findings ?? [],
    },
  }
}

/** Most characters of a text of a list. */
const TEXT = 300
