import { sql, type Kysely } from 'kysely'

export interface CancelledJob {
  /** Number of waiting runs that were cancelled. */
  readonly cancelled: number
  /** Running runs whose cancel was requested. */
  readonly requested: readonly {
    readonly runId: number
    readonly runUuid: string
    readonly workerId: string
  }[]
}

/** Runs cancelled in one transaction. */
const CANCEL_CHUNK = 5_000
/** Another master continues a cancel that made no progress for this long. */
const HOLD_MS = 5_000

const hold = sql`now() + ${HOLD_MS} * interval '1 ms'`

/**
 * Marks the job as cancelled and commits before its runs are cancelled. From then on targets without a run are expanded
 * as cancelled, freed slots are not given to the job's runs, and `finishCancel` completes the cancel after a crash.
 */
export const requestCancel = async (
  db: Kysely<unknown>,
  jobId: string,
): Promise<CancelledJob | undefined> => {
  const { rows } = await sql<{ id: number }>`
    update jobs set cancel_requested_at = coalesce(cancel_requested_at, now()), cancel_due_at = ${hold}
    where job_id = ${jobId} returning id
  `.execute(db)
  const [job] = rows
  return job && (await cancelRuns(db, job.id))
}

/** Cancels the runs of one job whose cancel was left unfinished; undefined when there is none. */
export const finishCancel = async (
  db: Kysely<unknown>,
): Promise<(CancelledJob & { readonly jobId: string }) | undefined> => {
  const { rows } = await sql<{ id: number; job_id: string }>`
    update jobs set cancel_due_at = ${hold}
    where id = (select id from jobs where cancel_due_at < now() order by cancel_due_at limit 1 for update skip locked)
    returning id, job_id
  `.execute(db)
  const [job] = rows
  return job && { jobId: job.job_id, ...(await cancelRuns(db, job.id)) }
}

/** In chunks, so that a job of a million runs does not hold a million locks. Several callers may cancel the same job. */
const cancelRuns = async (db: Kysely<unknown>, jobNo: number): Promise<CancelledJob> => {
  const answer = { cancelled: 0, requested: [] as CancelledJob['requested'][number][] }
  for (let after = 0; ;) {
    const chunk = await sql<{ id: number }>`
      select id from runs
      where job_no = ${jobNo} and id > ${after} and status in ('pending', 'queued', 'running')
      order by id limit ${CANCEL_CHUNK}
    `.execute(db)
    const last = chunk.rows.at(-1)
    if (!last) break
    after = last.id
    const cancelled = await sql<{ id: number; run_uuid: string; worker_id: string; status: string }>`
      select id, run_uuid, worker_id, status from request_cancel(${chunk.rows.map((row) => row.id)}::bigint[])
    `.execute(db)
    for (const run of cancelled.rows) {
      if (run.status === 'running') {
        answer.requested.push({ runId: run.id, runUuid: run.run_uuid, workerId: run.worker_id })
      } else answer.cancelled++
    }
    await sql`update jobs set cancel_due_at = ${hold} where id = ${jobNo} and cancel_due_at is not null`.execute(
      db,
    )
  }
  await sql`update jobs set cancel_due_at = null where id = ${jobNo}`.execute(db)
  return answer
}
