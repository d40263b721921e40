import { Type, type Static } from 'typebox'

/** Life cycle of a run. `pending`: not yet queued. `queued`: waits for a slot. Terminal ones never change. */
export const RunStatus = Type.Enum(['pending', 'queued', 'running', 'completed', 'failed', 'cancelled'])
export type RunStatus = Static<typeof RunStatus>

/** All allowed changes of a run's status. Tests compare `docs/architecture.md` and the database with this table. */
export const RUN_MOVES: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  pending: ['queued', 'cancelled'],
  queued: ['running', 'completed', 'failed', 'cancelled'],
  running: ['queued', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
}

/** `cancelled` is set only on request; the reason for `skipped` is in `error_message`. */
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

/** The statuses from which `to` can be reached: the `where status = any(…)` of every status update. */
export const sources = (to: RunStatus): RunStatus[] =>
  (Object.keys(RUN_MOVES) as RunStatus[]).filter((from) => canMove(from, to))

export const isTerminal = (status: RunStatus): boolean => RUN_MOVES[status].length === 0

/** The statuses that the list filter and the job counter combine as `pending`. */
export const WAITING: readonly RunStatus[] = ['pending', 'queued']
