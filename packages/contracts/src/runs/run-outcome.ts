import { Type, type Static } from 'typebox'
import type { RunStatus } from './run-status.ts'

/**
 * Whether an ended run did its work. `clean`: it completed, and all modules and steps that were due did their work.
 * `partial`: something worked, and something failed or was left out. `nothing_done`: nothing worked.
 */
export const RunOutcome = Type.Enum(['clean', 'partial', 'nothing_done'])
export type RunOutcome = Static<typeof RunOutcome>

/** The numbers that determine the outcome of a run. */
export interface RunTally {
  /** A step of a module completed and did more than log messages. */
  readonly worked: boolean
  /** Steps of modules that failed, or in which an item or branch failed, including steps with `on_error: continue`. */
  readonly failedSteps: number
  /** Modules that were due and could not start. */
  readonly leftOutModules: number
  /** Steps of started modules that were due but not reached because of a failure. */
  readonly leftOutSteps: number
  /** The reasons in chronological order, secrets masked. */
  readonly reasons: readonly string[]
}

export const NO_WORK: RunTally = {
  worked: false,
  failedSteps: 0,
  leftOutModules: 0,
  leftOutSteps: 0,
  reasons: [],
}

/** Maximum number of reasons per run, and characters of each. */
export const OUTCOME_REASONS = 10
export const OUTCOME_REASON_CHARS = 300

/** The outcome of a run that ends with this status. The database has the same rule; a test compares the two. */
export const outcomeOf = (
  status: Extract<RunStatus, 'completed' | 'failed' | 'cancelled'>,
  { worked, failedSteps, leftOutModules, leftOutSteps }: RunTally,
): RunOutcome => {
  if (!worked) return 'nothing_done'
  return status === 'completed' && failedSteps + leftOutModules + leftOutSteps === 0 ? 'clean' : 'partial'
}
