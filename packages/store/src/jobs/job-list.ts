import type { JobCounts, JobSummary, Priority, TriggerType } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { countOf, decodeCursor, encodeCursor } from '../page.ts'
import { conditionsBy, is, type ValuesOf } from '../findings/condition.ts'
import {
  sortedBy,
  SORTED_LETTERS,
  type SortedRow,
  type SortKey,
  type SortRequest,
} from '../findings/sorted.ts'
import type { JobCounter } from './job-counts.ts'
import { jobNoOf } from './job-no.ts'
import type { Tables } from '../tables.ts'
import { firstRow } from '../rows.ts'

/** `open`: a run of the job has not ended. The others: all runs have ended, all of them so, or differently (`partial`). */
export const JOB_STATES = ['open', 'ended', 'completed', 'failed', 'cancelled', 'partial'] as const
export type JobState = (typeof JOB_STATES)[number]

/** Its counts are null while those of many open runs on the page are being counted. */
export type CountedJob = Omit<JobSummary, 'status'>

interface JobRow extends Omit<CountedJob, 'counts' | 'ended_at'> {
  readonly no: number
  readonly final_counts: (Omit<JobCounts, 'pending' | 'running'> & { readonly ended_at: string }) | null
}

export interface JobPage {
  readonly data: readonly CountedJob[]
  readonly nextCursor: string | undefined
}

const SORT_KEYS = {
  created: { key: sql`id`, type: 'bigint', isIndexed: true },
  workflow: { key: sql`left(workflow_name, ${SORTED_LETTERS})`, type: 'text' },
  // The worst first, and open jobs last.
  outcome: {
    key: sql`case when final_counts is null then 9
      else array_position(array['nothing_done', 'partial', 'clean'], job_outcome(final_counts, target_count)) end`,
    type: 'bigint',
  },
  targets: { key: sql`target_count`, type: 'bigint' },
  failed: { key: sql`coalesce((final_counts ->> 'failed')::bigint, -1)`, type: 'bigint' },
  priority: { key: sql`priority_rank(priority)`, type: 'bigint' },
  trigger: {
    key: sql`left(coalesce(nullif(trigger_name, ''), trigger_type), ${SORTED_LETTERS})`,
    type: 'text',
  },
  ended: { key: sql`coalesce(final_counts ->> 'ended_at', '')`, type: 'text' },
} as const satisfies Record<string, SortKey>
export type JobSort = keyof typeof SORT_KEYS
export const JOB_SORTS = Object.keys(SORT_KEYS) as JobSort[]

/** A page looks at this many jobs at most: it may have fewer jobs than its limit although more follow. */
const JOBS_SEEN = 50_000
/** A shorter beginning of an id is compared with each job, a longer one is found by its index. */
const INDEXED_PREFIX = 4
const RETRIES_SHOWN = 100

const COLUMNS = sql`
  j.id as no, j.job_id, j.workflow_name, j.workflow_kind, j.priority, j.run_mode, j.target_count, j.concurrency,
  j.trigger_type, j.trigger_name, j.schedule_id, j.created_at, j.cancel_requested_at, j.final_counts,
  j.left_out,
  job_outcome(j.final_counts, j.target_count) as outcome,
  j.refused + (select count(*) from refusals f where f.job_no = j.id and f.run_id is not null) as refused,
  case when j.scope_no is null then '' else rules_of_scope(j.scope_no) ->> 'name' end as scope,
  coalesce((select f.infra_id from cloud_infras f where f.id = j.infra_no), '') as infra_id,
  coalesce((select o.job_id from jobs o where o.id = j.retry_of), '') as retry_of,
  array(select o.job_id from (select id, job_id from jobs where retry_of = j.id offset 0) o
        order by o.id limit ${RETRIES_SHOWN}) as retries`

const conditionOf = (state: JobState): RawBuilder<unknown> => {
  if (state === 'open') return sql`final_counts is null`
  if (state === 'ended') return sql`final_counts is not null`
  const all = (['completed', 'failed', 'cancelled'] as const).map(
    (name) => sql`(final_counts ->> ${sql.lit(name)})::int = target_count`,
  )
  if (state === 'partial') return sql`not (${sql.join(all, sql` or `)})`
  // A job without runs is completed.
  const least = state === 'completed' ? 0 : 1
  return sql`(final_counts ->> ${sql.lit(state)})::int = greatest(target_count, ${sql.lit(least)})`
}

const FILTERS = {
  workflow: is('workflow_name'),
  trigger: is<TriggerType>('trigger_type'),
  priority: is<Priority>('priority'),
  state: (state: JobState) => [conditionOf(state)],
  /** The beginning of a job id: hex digits. */
  idPrefix: (prefix: string) => [sql`starts_with(job_id, ${prefix})`],
}
type JobFilter = ValuesOf<typeof FILTERS>

const wantedOf = conditionsBy(FILTERS)

export interface JobRequest extends Pick<SortRequest<JobSort>, 'limit' | 'sort'> {
  readonly cursor?: string | undefined
}

export const makeJobList = (db: Kysely<Tables>, upkeep: Kysely<Tables>, counter: JobCounter) => ({
  /** Jobs with their counts, newest first unless sorted. The cost does not depend on how many runs are stored. */
  async list(filter: JobFilter, { limit, cursor, sort }: JobRequest): Promise<JobPage> {
    if (sort !== undefined) return await listSorted(db, counter, filter, { limit, cursor, sort })
    const { state, idPrefix } = filter
    const wanted = wantedOf(filter)
    const before = cursor === undefined ? sql`` : sql`and id < ${decodeCursor(cursor)}`
    // An index has these few jobs; all others are looked at one after another.
    const isIndexed = state === 'open' || (idPrefix?.length ?? 0) >= INDEXED_PREFIX
    const within = sql.join(
      [
        ...(state === 'open' ? [sql`final_counts is null`] : []),
        ...(idPrefix !== undefined && isIndexed
          ? [sql`job_id >= ${idPrefix} and job_id < ${`${idPrefix}g`}`]
          : []),
        sql`true`,
      ],
      sql` and `,
    )
    const { rows } = await sql<{ seen: number; seen_to: number | null; jobs: number[] }>`
      with seen as materialized (
        select id, workflow_name, trigger_type, priority, final_counts, target_count, job_id from jobs
        where parent_run is null and ${within} ${before} order by id desc limit ${wanted.length === 0 ? limit : JOBS_SEEN}
      )
      select (select count(*) from seen) as seen, (select min(id) from seen) as seen_to, array(
        select id from seen ${wanted.length === 0 ? sql`` : sql`where ${sql.join(wanted, sql` and `)}`}
        order by id desc limit ${limit}) as jobs
    `.execute(db)
    const { seen = 0, seen_to: seenTo = null, jobs = [] } = rows[0] ?? {}
    const nos = jobs.map(Number)
    const mostSeen = wanted.length === 0 ? limit : JOBS_SEEN
    const last = nos.length === limit ? nos.at(-1) : seen === mostSeen ? seenTo : undefined
    return {
      data: await summariesOf(db, counter, nos),
      nextCursor: last === undefined || last === null ? undefined : encodeCursor(last),
    }
  },
  async summary(jobId: string): Promise<CountedJob | undefined> {
    const jobNo = await jobNoOf(db, jobId)
    if (jobNo === undefined) return undefined
    const [summary] = await summariesOf(db, counter, [jobNo])
    return summary
  },
  /** When the last run of a job ended; null: one is open; undefined: there is no such job. */
  async endOf(jobId: string): Promise<Date | null | undefined> {
    const job = await firstRow(db)<{ at: string | null }>`
      select coalesce(final_counts ->> 'ended_at', (
        select utc_text(max(completed_at)) from runs where job_no = j.id
        having count(*) = j.target_count and count(completed_at) = count(*))) as at
      from jobs j where job_id = ${jobId}`
    // The text has whole milliseconds.
    return job && (job.at === null ? null : new Date(Date.parse(job.at) + 1))
  },
  /** Stores the final counts of jobs whose runs have all ended; `last`: the job to continue after. */
  async settle(after: number, limit: number): Promise<{ counted: number; last: number | undefined }> {
    const { rows } = await sql<{ counted: number; last_no: number | null }>`
      select counted, last_no from settle_jobs(${after}, ${limit}::int)
    `.execute(upkeep)
    return { counted: rows[0]?.counted ?? 0, last: rows[0]?.last_no ?? undefined }
  },
})

const listSorted = async (
  db: Kysely<Tables>,
  counter: JobCounter,
  filter: JobFilter,
  { limit, cursor, sort }: JobRequest & { readonly sort: string },
): Promise<JobPage> => {
  const by = sortedBy(SORT_KEYS, sort, sql`id`)
  const matches = sql.join([sql`parent_run is null`, ...wantedOf(filter)], sql` and `)
  by.demandFew(await countOf(db, sql`from jobs where ${matches}`))
  const after = cursor === undefined ? sql`` : sql`and ${by.after(cursor)}`
  const { rows } = await sql<SortedRow>`
    select id, ${by.key} as sort_key from jobs where ${matches} ${after} order by ${by.order} limit ${limit}
  `.execute(db)
  const last = rows.length === limit ? rows.at(-1) : undefined
  return {
    data: await summariesOf(
      db,
      counter,
      rows.map(({ id }) => id),
    ),
    nextCursor: last && by.cursorOf(last),
  }
}

const summariesOf = async (
  db: Kysely<Tables>,
  counter: JobCounter,
  nos: readonly number[],
): Promise<CountedJob[]> => {
  if (nos.length === 0) return []
  const { rows } = await sql<JobRow>`
    select ${COLUMNS} from jobs j where j.id = any(${nos}::bigint[])
    order by array_position(${nos}::bigint[], j.id)
  `.execute(db)
  const open = rows.filter((row) => row.final_counts === null)
  const live = await counter.countSome(open.map(({ no, target_count: targets }) => ({ no, targets })))
  return rows.map(({ no, final_counts: final, ...row }) => {
    if (final === null) return { ...row, ended_at: null, counts: live.get(no) ?? null }
    const { ended_at: endedAt, ...counts } = final
    return { ...row, ended_at: endedAt, counts: { pending: 0, running: 0, ...counts } }
  })
}
