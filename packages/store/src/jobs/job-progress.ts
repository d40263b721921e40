import type { JobProgress } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { estimateEnd, RECENT_ENDS } from './estimate-end.ts'
import type { Totals } from '../totals.ts'
import { jobNoOf } from './job-no.ts'
import type { Tables } from '../tables.ts'
import { firstRow } from '../rows.ts'

/** Most buckets of the series. */
const BUCKETS = 120
/** Widths of a bucket in seconds; longer ones are whole days. */
const WIDTHS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400]

interface Facts {
  readonly total: number
  readonly made: number
  readonly running: number
  readonly waiting: number
  readonly cancelled_job: boolean
  readonly started: number | null
  readonly last: number | null
  readonly now: number
  readonly recent: number[]
  readonly durations: number[]
}

export const makeJobProgress = (db: Kysely<Tables>, totals: Totals) => ({
  /** How the runs of a job ended over time, and when the last is expected to; undefined for an unknown job. */
  async progress(jobId: string): Promise<JobProgress | undefined> {
    const jobNo = await jobNoOf(db, jobId)
    if (jobNo === undefined) return undefined
    return totals.group(
      `progress of job ${jobNo}`,
      () => readProgress(db, jobNo),
      ({ total }) => total,
    )
  },
})

const readProgress = async (db: Kysely<Tables>, jobNo: number): Promise<JobProgress> => {
  const facts = await readFacts(db, jobNo)
  const { total, made, running, waiting, started, last, now, recent, durations } = facts
  const unmade = facts.cancelled_job ? 0 : total - made
  const open = running + waiting + unmade
  const until = open === 0 ? (last ?? now) : now
  const width = started === null ? 1 : widthFor(until - started)
  const estimate = estimateEnd({ open, running, started, now, recent, durations })
  const { rate, expected, early, late, reason } = estimate
  return {
    total,
    ended: total - open,
    running,
    waiting: waiting + unmade,
    started_at: started === null ? null : new Date(started * 1_000).toISOString(),
    bucket_seconds: width,
    series: started === null ? [] : await readSeries(db, jobNo, { started, until, width }),
    rate,
    eta: { expected_seconds: expected, early_seconds: early, late_seconds: late, reason },
    oldest_waiting: waiting === 0 ? null : await readOldest(db, jobNo),
  }
}

const widthFor = (seconds: number): number =>
  WIDTHS.find((width) => seconds / width < BUCKETS) ?? Math.ceil(seconds / (BUCKETS - 1) / 86_400) * 86_400

const readFacts = async (db: Kysely<Tables>, jobNo: number): Promise<Facts> => {
  const facts = await firstRow(db)<Facts>`
    with r as materialized (
      select status, extract(epoch from started_at)::float8 as started,
             extract(epoch from completed_at)::float8 as ended
      from runs where job_no = ${jobNo}
    ), recent as (
      select ended, ended - started as duration from r
      where ended is not null and started is not null order by ended desc limit ${RECENT_ENDS}
    )
    select j.target_count as total, j.cancel_requested_at is not null as cancelled_job,
           extract(epoch from now())::float8 as now,
           array(select ended from recent order by ended) as recent,
           array(select duration from recent order by duration) as durations, f.*
    from jobs j cross join (
      select count(*) as made, count(*) filter (where status = 'running') as running,
             count(*) filter (where status in ('pending', 'queued')) as waiting, min(started) as started,
             max(ended) as last
      from r) f
    where j.id = ${jobNo}
  `
  if (facts === undefined) throw new Error('the job was deleted while it was read')
  return facts
}

const readSeries = async (
  db: Kysely<Tables>,
  jobNo: number,
  { started, until, width }: { readonly started: number; readonly until: number; readonly width: number },
): Promise<JobProgress['series']> => {
  const { rows } = await sql<{ bucket: number; completed: number; failed: number; cancelled: number }>`
    select floor((extract(epoch from completed_at)::float8 - ${started}::float8) / ${width}::float8)::int as bucket,
           count(*) filter (where status = 'completed') as completed, count(*) filter (where status = 'failed') as failed,
           count(*) filter (where status = 'cancelled') as cancelled
    from runs where job_no = ${jobNo} and completed_at is not null group by 1
  `.execute(db)
  const series = Array.from({ length: Math.min(BUCKETS, Math.floor((until - started) / width) + 1) }, () => ({
    completed: 0,
    failed: 0,
    cancelled: 0,
  }))
  for (const { bucket, completed, failed, cancelled } of rows) {
    // A run that was cancelled before the first one started belongs to the first bucket.
    const place = series[Math.min(Math.max(bucket, 0), series.length - 1)]
    if (place === undefined) continue
    place.completed += completed
    place.failed += failed
    place.cancelled += cancelled
  }
  return series
}

const readOldest = async (db: Kysely<Tables>, jobNo: number): Promise<JobProgress['oldest_waiting']> =>
  (await firstRow(db)<NonNullable<JobProgress['oldest_waiting']>>`
    select id, run_uuid, without_password(target) as target, created_at as since from runs
    where job_no = ${jobNo} and status || '' in ('pending', 'queued') order by id limit 1
  `) ?? null
