import { plural, type JobStatus } from '@scanfarm/contracts'
import { CliError, EXIT } from '../exit.ts'
import type { Terminal } from '../terminal.ts'
import { PATIENT, type Api } from './api.ts'
import { plain } from './table.ts'

export const WAIT_DESCRIPTION =
  'wait until all runs have ended; exit code 1 if one did not complete, 3 if one completed without doing all of its work'

/** The number of runs of a job whose reasons are printed. */
const SHOWN = 10

/** The reason of a run that reports none: its other steps were excluded or skipped, or it has no others. */
export const NO_STEP_WAS_DUE = 'no step was due that does more than write messages'

/** Prints a line with the reasons for each of the newest incomplete runs, and the number of the other ones. */
const explain = async (
  terminal: Terminal,
  api: Api,
  { job_id: jobId, outcomes }: JobStatus,
): Promise<void> => {
  const query = { job_id: jobId, outcome: 'partial,nothing_done', limit: SHOWN }
  const { data } = await api.call(({ GET }) => GET('/runs', { params: { query }, retry: PATIENT }))
  for (const { id, target, outcome, error_message: error, outcome_reasons: reasons } of data) {
    const why = reasons.length > 0 ? reasons.join('; ') : error || NO_STEP_WAS_DUE
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
  const incomplete = jobs.filter(({ outcomes }) => outcomes.partial + outcomes.nothing_done > 0)
  for (const job of incomplete) await explain(terminal, api, job)
  const withFailures = jobs.find((job) => job.failed + job.cancelled > 0)
  if (withFailures !== undefined)
    throw new CliError(
      EXIT.failed,
      `${withFailures.failed + withFailures.cancelled} of ${plural(withFailures.total_runs, 'run')} did not complete (job ${withFailures.job_id})`,
    )
  const [first] = incomplete
  if (first === undefined) return
  const { partial, nothing_done: nothing } = first.outcomes
  throw new CliError(
    EXIT.incomplete,
    `${partial + nothing} of ${plural(first.total_runs, 'run')} completed without doing all of their work (job ${first.job_id})`,
  )
}
