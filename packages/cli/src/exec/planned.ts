import type { ExecuteResult, LocalTarget, ResolvedWorkflow } from '@scanfarm/workflow'

export interface ExecTarget {
  /** `""` for a run without one. */
  readonly text: string
  /** The text is the absolute path of one on this machine. */
  readonly local?: LocalTarget
}

/** One workflow on one target. */
export interface PlannedRun {
  readonly uuid: string
  readonly workflow: ResolvedWorkflow
  readonly target: ExecTarget
  readonly space: string
  readonly output: string
  /** Of all spaces; missing: the parent of `output`. */
  readonly workspaces?: string
}

export interface EndedRun {
  readonly run: PlannedRun
  readonly result: Pick<ExecuteResult, 'status' | 'errorMessage' | 'outcome'> &
    Partial<Pick<ExecuteResult, 'tally'>>
  readonly seconds: number
}

/** How a run is called in front of its lines: by its target, and by its workflow where there are several. */
export const labelOf = ({ target, workflow }: PlannedRun, workflows: number): string =>
  [target.text, workflows > 1 || target.text === '' ? workflow.root.name : ''].filter(Boolean).join(' ')
