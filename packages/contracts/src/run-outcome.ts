import { Type, type Static } from 'typebox'
import type { RunStatus } from './run-status.ts'

/**
 * Whether an ended run did its work. `clean`: it completed and every module and step that was due did its work.
 * `partial`: something worked, and something failed or was left out. `nothing_done`: nothing worked.
 */
export const RunOutcome = Type.Enum(['clean', 'partial', 'nothing_done'])
export type RunOutcome = Static<typeof RunOutcome>

/** The figures that decide the outcome of a run. */
export interface RunTally {
  /** A step of a module completed and did more than write messages. */
  readonly worked: boolean
  /** Steps of modules that failed, or in which an item or a branch failed; also those with `on_error: continue`. */
  readonly failedSteps: number
  /** Modules that were due and could not begin. */
  readonly leftOutModules: number
  /** Steps that were due, in modules that did begin, and were not reached because of a failure. */
  readonly leftOutSteps: number
  /** Why, in the order of happening; secrets masked. */
  readonly reasons: readonly string[]
}

export const NO_WORK: RunTally = {
  worked: false,
  failedSteps: 0,
  leftOutModules: 0,
  leftOutSteps: 0,
  reasons: [],
}

/** Reasons that are kept of a run, and characters of each. */
export const OUTCOME_REASONS = 10
export const OUTCOME_REASON_CHARS = 300

/** The outcome of a run that ends with this status; the database has the same rule, and a test compares the two. */
export const outcomeOf = (
  status: Extract<RunStatus, 'completed' | 'failed' | 'cancelled'>,
  { worked, failedSteps, leftOutModules, leftOutSteps }: RunTally,
): RunOutcome => {
  if (!worked) return 'nothing_done'
  return status === 'completed' && failedSteps + leftOutModules + leftOutSteps === 0 ? 'clean' : 'partial'
}
