import { AppError, type JobChanges, type Night } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { jobNoOf } from './job-no.ts'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

/** What the last job of a schedule did and found. */
export type RunNight = Pick<
  Night,
  'running' | 'last' | 'previous' | 'findings' | 'open' | 'not_tested' | 'workspace' | 'workspace_count'
>

export const makeNights = (db: Kysely<Tables>) => ({
  /** Writes findings.digest for full hours and findings.reminder for days that have begun; any master calls it. */
  logDigests: async (): Promise<void> => {
    await sql`select log_digests()`.execute(db)
  },
  /** By the ids of the schedules. */
  async of(schedules: readonly string[]): Promise<ReadonlyMap<string, RunNight>> {
    const { rows } = await sql<RunNight & { id: string }>`
      select s.id, case when n.final_counts is null and n.id is not null
               then json_build_object('job_id', n.job_id, 'created_at', utc_text(n.created_at)) end as running,
             l.job as last, p.job as previous,
             case when l.id is null then '{"new": {}, "back": {}, "gone": {}}' else (select counts from findings_of_job(l.id)) end as findings,
             o.open, case when l.id is null then 0 else (select count(*) from not_tested_findings(array[l.id], w.names)) end
               as not_tested, coalesce(w.first, '') as workspace, coalesce(cardinality(w.names), 0) as workspace_count
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
        select coalesce(jsonb_object_agg(severity, count), '{}') as open
        from (select v.severity, count(*)
              from unnest(w.names) as each(workspace) join vulnerabilities v on v.workspace = each.workspace
              where v.state = 'open' group by v.severity) by_severity) o
    `.execute(db)
    return new Map(rows.map(({ id, ...night }) => [id, night]))
  },
  /**
   * What changed among the findings of a job: by its own runs, or, with `since`, by all runs in its workspaces after
   * the end of that earlier job. `limit`: most findings of each list; `workspace`: only its findings. Undefined: one
   * of the jobs does not exist.
   */
  async changes(
    jobId: string,
    since: string | undefined,
    limit: number,
    workspace?: string,
  ): Promise<JobChanges | undefined> {
    const [jobNo, after] = await Promise.all([
      jobNoOf(db, jobId),
      since === undefined ? undefined : jobNoOf(db, since),
    ])
    if (jobNo === undefined || (since !== undefined && after === undefined)) return undefined
    if (after !== undefined && after >= jobNo)
      throw new AppError('bad_request', `job ${since} is not earlier than job ${jobId}: swap them`)
    const jobs =
      after === undefined
        ? sql`array[${jobNo}::bigint]`
        : sql`array(select distinct r.job_no from runs r where r.workspace in (select workspace from workspaces)
                      and r.job_no > ${after} and r.job_no <= ${jobNo})`
    // What a job of mode delta left out, earlier ones of its kind have scanned.
    const parts = sql`array(select ${jobNo}::bigint union all
      select j.id from jobs b join jobs j using (workflow_name, schedule_id)
      where b.id = ${jobNo} and b.delta is not null and j.id >= ${after ?? jobNo} and j.id < b.id)`
    return await firstValue<JobChanges | undefined>(db, undefined)`
      with workspaces as materialized (
        select distinct workspace from runs
        where job_no = any (${parts}) and (${workspace ?? null}::text is null or workspace = ${workspace ?? null})
      )
      select job_changes(${jobs}, array(select workspace from workspaces), ${workspace ?? null}, ${limit}) as changes
    `
  },
})

const JOB = sql`json_build_object('job_id', job_id, 'created_at', utc_text(created_at),
  'outcome', job_outcome(final_counts, target_count), 'is_cancelled', cancel_requested_at is not null,
  'target_count', target_count)::jsonb || final_counts as job`

/** The ended job of schedule `s` that is the newest with a lower number than `below`. */
const endedJob = (below: RawBuilder<unknown>) => sql`
  select id, ${JOB} from jobs
  where schedule_id = s.id and schedule_id <> '' and final_counts is not null and id < ${below} order by id desc limit 1`
