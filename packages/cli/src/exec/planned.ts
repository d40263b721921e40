import type { ExecuteResult } from '@scanfarm/engine'
import type { LocalTarget } from '@scanfarm/functions'
import type { ResolvedWorkflow } from '@scanfarm/language'

export interface ExecTarget {
  /** Empty for a run without a target. */
  readonly text: string
  /** Set if the target is on this machine; `text` is then its absolute path. */
  readonly local?: LocalTarget
}

/** One workflow on one target. */
export interface PlannedRun {
  readonly uuid: string
  readonly workflow: ResolvedWorkflow
  readonly target: ExecTarget
  readonly space: string
  readonly output: string
  /** The folder of all workspaces; default: the parent of `output`. */
  readonly workspaces?: string
}

export interface EndedRun {
  readonly run: PlannedRun
  readonly result: Pick<ExecuteResult, 'status' | 'errorMessage' | 'outcome'> &
    Partial<Pick<ExecuteResult, 'tally'>>
  readonly seconds: number
}

/** The label of a run: its target, and its workflow if there are several. */
export const labelOf = ({ target, workflow }: PlannedRun, workflows: number): string =>
  [target.text, workflows > 1 || target.text === '' ? workflow.root.name : ''].filter(Boolean).join(' ')
