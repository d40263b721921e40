import type { JobCounts } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Tables } from '../tables.ts'
import type { Totals } from '../totals.ts'

/** Runs of open jobs that one page counts before it answers; those of further jobs are counted after it. */
const COUNTED_AT_ONCE = 200_000

/** Counts the runs of open jobs. Counting the runs of many large jobs goes on after the answer, one job at a time. */
export class JobCounter {
  readonly #db: Kysely<Tables>
  readonly #totals: Totals
  #isCounting = false

  constructor(db: Kysely<Tables>, totals: Totals) {
    this.#db = db
    this.#totals = totals
  }

  async countSome(
    jobs: readonly { readonly no: number; readonly targets: number }[],
  ): Promise<ReadonlyMap<number, JobCounts>> {
    const counts = new Map<number, JobCounts>()
    const later: number[] = []
    let counted = 0
    for (const { no, targets } of jobs) {
      const isCheap = this.#totals.isCheap(keyOf(no))
      if (!isCheap && counted > 0 && counted + targets > COUNTED_AT_ONCE) later.push(no)
      else counts.set(no, await this.#count(no))
      if (!isCheap) counted += targets
    }
    if (later.length > 0 && !this.#isCounting) void this.#countLater(later)
    return counts
  }

  #count(no: number): Promise<JobCounts> {
    return this.#totals.group(keyOf(no), () => countRuns(this.#db, no), totalOf)
  }

  async #countLater(nos: readonly number[]): Promise<void> {
    this.#isCounting = true
    try {
      for (const no of nos) await this.#count(no)
    } catch {
      // The next page meets the same error and reports it.
    } finally {
      this.#isCounting = false
    }
  }
}

const keyOf = (no: number): string => `counts of job ${no}`

const totalOf = (counts: JobCounts): number =>
  counts.pending + counts.running + counts.completed + counts.failed + counts.cancelled

/** The counts of a job `j` from its runs. Targets without a run count as pending, or as cancelled if the job is. */
export const COUNTS = sql`
  r.completed, r.running, r.failed, r.clean, r.partial,
  r.waiting + case when j.cancel_requested_at is null then j.target_count - r.made else 0 end as pending,
  r.cancelled + case when j.cancel_requested_at is null then 0 else j.target_count - r.made end as cancelled,
  r.nothing_done + case when j.cancel_requested_at is null then 0 else j.target_count - r.made end as nothing_done`

/** Jobs `j`, each with what is counted of its runs as `r`; `more`: further columns of `r`. */
export const countedJobs = (more: RawBuilder<unknown> = sql``): RawBuilder<unknown> => sql`
  jobs j cross join lateral (
    select count(*) as made, count(*) filter (where status = 'completed') as completed,
           count(*) filter (where status = 'running') as running, count(*) filter (where status = 'failed') as failed,
           count(*) filter (where status = 'cancelled') as cancelled,
           count(*) filter (where outcome = 'clean') as clean,
           count(*) filter (where outcome = 'partial') as partial,
           count(*) filter (where outcome = 'nothing_done') as nothing_done,
           count(*) filter (where status in ('pending', 'queued')) as waiting ${more}
    from runs where job_no = j.id
  ) r`

const countRuns = async (db: Kysely<Tables>, jobNo: number): Promise<JobCounts> => {
  const { rows } = await sql<JobCounts>`select ${COUNTS} from ${countedJobs()} where j.id = ${jobNo}`.execute(
    db,
  )
  return rows[0] ?? NONE
}

const NONE: JobCounts = {
  pending: 0,
  running: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  clean: 0,
  partial: 0,
  nothing_done: 0,
}
