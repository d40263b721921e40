import type { JobStatus, Run } from '@scanfarm/contracts'
import { CliError, EXIT } from '../exit.ts'
import type { Terminal } from '../terminal.ts'
import type { Api } from './api.ts'
import { patiently } from './patiently.ts'
import { plain } from './table.ts'

export const WAIT_MEANING =
  'wait until all runs have ended; exit code 1 when one did not complete, 3 when one completed without doing all of its work'

/** Runs of a job that are explained. */
const SHOWN = 10

/** Of a run without reasons: all else was excluded or skipped, or there is nothing else. */
export const NOTHING_WAS_DUE = 'no step was due that does more than write messages'

/** A line for each of the newest runs that are not clean, with its reasons, and one for the number of the others. */
const explain = async (
  terminal: Terminal,
  api: Api,
  { job_id: jobId, outcomes }: JobStatus,
): Promise<void> => {
  const query = { job_id: jobId, outcome: 'partial,nothing_done', limit: String(SHOWN) }
  const { data } = await patiently(() => api.get<{ data: readonly Run[] }>('/runs', query))
  for (const { id, target, outcome, error_message: error, outcome_reasons: reasons } of data) {
    const why = reasons.length > 0 ? reasons.join('; ') : error || NOTHING_WAS_DUE
    const about = [`run ${id}`, target, outcome].filter(Boolean).join(' ')
    terminal.err.write(`scanfarm: ${plain(`${about}: ${why}`)}\n`)
  }
  const more = outcomes.partial + outcomes.nothing_done - data.length
  if (more > 0)
    terminal.err.write(
      `scanfarm: ${more} more: scanfarm runs --job ${jobId} --outcome partial,nothing_done --offset ${data.length}\n`,
    )
}

/**
 * Prints the reasons, then throws a `CliError`: exit code 1 when a run of the ended jobs failed or was cancelled, 3 when a run
 * completed without doing all of its work.
 */
export const checkWork = async (terminal: Terminal, api: Api, jobs: readonly JobStatus[]): Promise<void> => {
  const unclean = jobs.filter(({ outcomes }) => outcomes.partial + outcomes.nothing_done > 0)
  for (const job of unclean) await explain(terminal, api, job)
  const lost = jobs.find((job) => job.failed + job.cancelled > 0)
  if (lost !== undefined)
    throw new CliError(
      EXIT.failed,
      `${lost.failed + lost.cancelled} of ${lost.total_runs} runs did not complete (job ${lost.job_id})`,
    )
  const [first] = unclean
  if (first === undefined) return
  const { partial, nothing_done: nothing } = first.outcomes
  throw new CliError(
    EXIT.incomplete,
    `${partial + nothing} of ${first.total_runs} runs completed without doing all of their work (job ${first.job_id})`,
  )
}
