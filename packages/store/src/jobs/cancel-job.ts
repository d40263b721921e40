import type { WaitingJob } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { WAITING_JOB, waitingOf, type WaitingRow } from './change-job.ts'
import { isJobId } from './job-no.ts'
import type { Tables } from '../tables.ts'
import { firstRow, firstValue } from '../rows.ts'

export interface CancelledJob {
  /** Number of waiting runs that were cancelled, or that the masters are cancelling: they cannot start any more. */
  readonly cancelled: number
  /** Running runs whose cancel was requested. */
  readonly requested: readonly number[]
  /** Its messages claim nothing any more. */
  readonly waiting: WaitingJob | undefined
}

/** Runs cancelled in one transaction. */
const CANCEL_CHUNK = 5_000
/** Another master continues a cancel that made no progress for this long. */
const LEASE_MS = 5_000

const leaseEnd = sql`now() + ${LEASE_MS} * interval '1 ms'`

/** `upkeep`: the same database with a longer statement timeout. */
export const makeJobCancels = (db: Kysely<Tables>, upkeep: Kysely<Tables>) => ({
  /**
   * Cancels all runs of the job: waiting ones at once (their outbox rows are deleted), running ones by setting
   * `cancel_requested_at`. Marks the job as cancelled and commits before its runs are cancelled. From then on its
   * waiting runs cannot be claimed, targets without a run are expanded as cancelled, and freed slots are not given to
   * the job's runs. Asks the running runs to stop and cancels the first chunk of waiting ones; `finishCancel` cancels
   * the others, at once or after a crash. Undefined for an unknown job.
   */
  async requestCancel(jobId: string): Promise<CancelledJob | undefined> {
    if (!isJobId(jobId)) return undefined
    const job = await firstRow(db)<WaitingRow & { unmade: number }>`
      update jobs set cancel_requested_at = coalesce(jobs.cancel_requested_at, now()), cancel_due_at = ${leaseEnd}
      from (select id, cancel_requested_at from jobs where job_id = ${jobId} for no key update) before
      where jobs.id = before.id
      returning ${WAITING_JOB}, case when before.cancel_requested_at is null then
        (select coalesce(sum(cardinality(targets)), 0) from job_targets where job_no = jobs.id) else 0 end as unmade
    `
    if (job === undefined) return undefined
    const { unmade, ...now } = job
    const { jobNo } = now
    const waiting = waitingOf(now)
    const tally: Tally = { cancelled: Number(unmade), requested: [] }
    await cancelStarted(db, jobNo, tally)
    if ((await cancelWaiting(db, jobNo, 0, tally)) === undefined) {
      await finish(db, jobNo, tally)
      return { ...tally, waiting }
    }
    const left = await sql<{ count: number }>`
      update jobs set cancel_due_at = '-infinity' where id = ${jobNo}
      returning (select count(*) from runs where job_no = ${jobNo} and status || '' in ('pending', 'queued')) as count
    `.execute(db)
    tally.cancelled += left.rows[0]?.count ?? 0
    return { ...tally, waiting }
  },
  /** Cancels the remaining runs of one job whose cancel is due; undefined when there is none. */
  async finishCancel(): Promise<FinishedCancel | undefined> {
    const job = await firstRow(upkeep)<WaitingRow & { jobId: string; interrupted: boolean }>`
      update jobs set cancel_due_at = ${leaseEnd}
      from (select id, cancel_due_at from jobs where cancel_due_at < now() order by cancel_due_at limit 1
            for update skip locked) due
      where jobs.id = due.id
      returning ${WAITING_JOB}, jobs.job_id as "jobId", due.cancel_due_at > '-infinity' as interrupted
    `
    if (job === undefined) return undefined
    const { jobId, interrupted, ...now } = job
    const { jobNo } = now
    const tally: Tally = { cancelled: 0, requested: [] }
    await cancelStarted(upkeep, jobNo, tally)
    const middle = await middleRun(upkeep, jobNo)
    await Promise.all([
      cancelAllWaiting(upkeep, jobNo, { after: 0, until: middle }, tally),
      cancelAllWaiting(upkeep, jobNo, { after: middle }, tally),
    ])
    await finish(upkeep, jobNo, tally)
    return { jobId, interrupted, waiting: waitingOf(now), ...tally }
  },
})

interface FinishedCancel extends CancelledJob {
  readonly jobId: string
  /** The master that began it has died. */
  readonly interrupted: boolean
}

interface Tally {
  cancelled: number
  readonly requested: number[]
}

/** A claim that began before the mark may have started a run during the cancel. */
const finish = async (db: Kysely<Tables>, jobNo: number, tally: Tally): Promise<void> => {
  await cancelStarted(db, jobNo, tally, sql`and cancel_requested_at is null`)
  await db.updateTable('jobs').set({ cancel_due_at: null }).where('id', '=', jobNo).execute()
}

/**
 * Cancels the runs that have started at least once, in chunks, so that a job of a million runs does not hold a million
 * locks. Several callers may cancel the same job.
 */
const cancelStarted = async (
  db: Kysely<Tables>,
  jobNo: number,
  tally: Tally,
  condition = sql``,
): Promise<void> => {
  for (let after = 0; ;) {
    const chunk = await sql<{ id: number }>`
      select id from runs
      where job_no = ${jobNo} and id > ${after} and status || '' in ('pending', 'queued', 'running') and attempt > 0
        ${condition}
      order by id limit ${CANCEL_CHUNK}
    `.execute(db)
    const last = chunk.rows.at(-1)
    if (!last) return
    after = last.id
    const cancelled = await sql<{ id: number; status: string }>`
      select id, status from request_cancel(${chunk.rows.map((row) => row.id)}::bigint[])
    `.execute(db)
    for (const run of cancelled.rows)
      if (run.status === 'running') tally.requested.push(run.id)
      else tally.cancelled++
    await renewLease(db, jobNo)
  }
}

/** Postgres executes a statement on one core, so the waiting runs are cancelled in two halves. */
const middleRun = (db: Kysely<Tables>, jobNo: number): Promise<number> => firstValue(db, 0)`
    select (min(id) + max(id)) / 2 as middle from runs where job_no = ${jobNo}
  `

/** Chunks may reach beyond `until`: a run is cancelled once. */
const cancelAllWaiting = async (
  db: Kysely<Tables>,
  jobNo: number,
  { after, until = Infinity }: { after: number; until?: number },
  tally: Tally,
): Promise<void> => {
  for (let last: number | undefined = after; last !== undefined && last < until;)
    last = await cancelWaiting(db, jobNo, last, tally)
}

/** @returns the last run of a full chunk, after which there may be more */
const cancelWaiting = async (
  db: Kysely<Tables>,
  jobNo: number,
  after: number,
  tally: Tally,
): Promise<number | undefined> => {
  const { rows } = await sql<{ cancelled: number; last_id: number | null }>`
    select cancelled, last_id from cancel_waiting(${jobNo}, ${after}, ${CANCEL_CHUNK})
  `.execute(db)
  const { cancelled = 0, last_id: last } = rows[0] ?? {}
  tally.cancelled += cancelled
  await renewLease(db, jobNo)
  return cancelled < CANCEL_CHUNK ? undefined : (last ?? undefined)
}

const renewLease = (db: Kysely<Tables>, jobNo: number) =>
  sql`update jobs set cancel_due_at = ${leaseEnd} where id = ${jobNo} and cancel_due_at is not null`.execute(
    db,
  )
