import { Type, type Static } from 'typebox'

/**
 * The life of a run. `pending`: created, not started. `queued`: waits for a slot. The three terminal statuses
 * never change again.
 */
export const RunStatus = Type.Enum(['pending', 'queued', 'running', 'completed', 'failed', 'cancelled'])
export type RunStatus = Static<typeof RunStatus>

/** The only moves between statuses of a run; `docs/lifecycle.md` and the database are compared with this table. */
export const RUN_MOVES: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  pending: ['queued', 'cancelled'],
  queued: ['running', 'failed', 'cancelled'],
  running: ['queued', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
}

/** `cancelled` is only reached on request; `skipped` carries its reason in `error_message`. */
export const StepStatus = Type.Enum(['pending', 'running', 'completed', 'failed', 'skipped', 'cancelled'])
export type StepStatus = Static<typeof StepStatus>

export const STEP_MOVES: Readonly<Record<StepStatus, readonly StepStatus[]>> = {
  pending: ['running', 'skipped', 'cancelled'],
  running: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  skipped: [],
  cancelled: [],
}

export const canMove = (from: RunStatus, to: RunStatus): boolean => RUN_MOVES[from].includes(to)

/** Where `to` may be reached from: the `where status = any(…)` of every update of a run's status. */
export const sources = (to: RunStatus): RunStatus[] =>
  (Object.keys(RUN_MOVES) as RunStatus[]).filter((from) => canMove(from, to))

export const isTerminal = (status: RunStatus): boolean => RUN_MOVES[status].length === 0

/** What the list filter and the job counter call `pending`: everything that waits. */
export const WAITING: readonly RunStatus[] = ['pending', 'queued']
