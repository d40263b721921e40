import type { JobCounts, JobStatus, Run } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.ts'
import { readPage } from '../page.ts'
import { RUNS, type RunRow } from '../runs/run-rows.ts'
import { runsOf } from '../runs/waiting-reason.ts'
import { COUNTS, countedJobs } from './job-counts.ts'
import { firstRow } from '../rows.ts'
import { isJobId } from './job-no.ts'

/** Up to this many runs and bytes of targets, counters and runs are read in one statement, so they are consistent. */
const RUNS_AT_ONCE = 20_000
const TARGET_BYTES_AT_ONCE = 2 * 1024 * 1024
/** Larger jobs are sent in pieces of this many runs: with the longest targets a piece has about 2 MiB. */
const RUNS_A_PIECE = 1_000

interface Facts {
  readonly no: number
  readonly job_id: string
  readonly total_runs: number
  readonly elements: string | null
}

export interface JobReport {
  readonly counts: Omit<JobStatus, 'runs'>
  /** Whether the pieces are in memory. */
  readonly isInMemory: boolean
  /**
   * The runs in order, as JSON text: each piece is one or more elements of an array, joined by commas. Postgres builds the
   * text, since building it here would block this process. Pieces of large jobs are read on demand and may be newer than
   * the counters.
   */
  readonly pieces: AsyncIterable<string>
}

// Only the target needs quoting: uuids, statuses and outcomes have nothing to quote.
const ELEMENTS = sql<string>`string_agg('{"run_uuid":"' || run_uuid || '","target":' || to_json(without_password(target)) || ',"status":"' || status || '","outcome":"' || coalesce(outcome, '') || '"}', ',')`

export const makeJobReports = (db: Kysely<Tables>) => {
  const report = async (jobId: string): Promise<JobReport | undefined> => {
    if (!isJobId(jobId)) return undefined
    const row = await firstRow(db)<JobCounts & Facts>`
      select j.id as no, j.job_id, j.target_count as total_runs, ${COUNTS},
             case when j.target_count <= ${RUNS_AT_ONCE} and r.target_bytes <= ${TARGET_BYTES_AT_ONCE} then
               (select ${ELEMENTS} from (select run_uuid, target, status, outcome from runs where job_no = j.id order by id) in_order)
             end as elements
      from ${countedJobs(sql`, coalesce(sum(octet_length(target)), 0) as target_bytes`)} where j.job_id = ${jobId}
    `
    if (row === undefined) return undefined
    const { no, elements, clean, partial, nothing_done, ...statuses } = row
    const counts = { ...statuses, outcomes: { clean, partial, nothing_done } }
    const isLarge = elements === null && counts.total_runs > 0
    return { counts, isInMemory: !isLarge, pieces: isLarge ? piecesOf(db, no) : one(elements) }
  }
  return {
    /** The status of a job of any size, with bounded memory. */
    report,
    /** The first runs of a job with higher ids than `after`, in order, with all their fields. */
    async runs(jobId: string, after: number): Promise<Run[]> {
      const { rows } = await readPage<RunRow>(db, {
        ...RUNS,
        ids: sql`select r.id from runs r join jobs j on j.id = r.job_no
               where j.job_id = ${jobId} and r.id > ${after} order by r.id limit ${RUNS_A_PIECE}`,
        ascending: true,
      })
      return await runsOf(db, rows)
    },
    /** The report as one value. */
    async status(jobId: string): Promise<JobStatus | undefined> {
      const found = await report(jobId)
      if (found === undefined) return undefined
      const { counts, pieces } = found
      const runs: JobStatus['runs'] = []
      for await (const piece of pieces) runs.push(...(JSON.parse(`[${piece}]`) as JobStatus['runs']))
      return { ...counts, runs }
    },
  }
}

async function* one(elements: string | null): AsyncGenerator<string> {
  if (elements !== null) yield elements
}

async function* piecesOf(db: Kysely<Tables>, jobNo: number): AsyncGenerator<string> {
  for (let after = 0; ;) {
    const { rows } = await sql<{ elements: string | null; last: number | null }>`
      select ${ELEMENTS} as elements, max(id) as last from (
        select id, run_uuid, target, status, outcome from runs where job_no = ${jobNo} and id > ${after}
        order by id limit ${RUNS_A_PIECE}
      ) in_order`.execute(db)
    const { elements, last } = rows[0] ?? {}
    if (elements === null || elements === undefined || last === null || last === undefined) return
    yield elements
    after = last
  }
}
