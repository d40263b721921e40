import type { RunnerSpec } from '@scanfarm/contracts'
import type { Step } from '../model.ts'
import type { OpenRow } from './row.ts'
import type { Run } from './run.ts'
import type { Scope } from './scope.ts'
import type { StepLimit } from './step-limit.ts'
import type { StepOutcome } from './step-end.ts'
import type { StepTrace } from './tally.ts'

/** A module while it runs: what its steps have in common. */
export interface ModuleRun {
  readonly run: Run
  /** Name of the flow's module, or `""` for a module that is run by itself. */
  readonly name: string
  readonly runner: RunnerSpec
  readonly scope: Scope
  /** Names that steps exported, to be handed on to the flow. */
  readonly exported: Set<string>
  readonly runStep: RunStep
}

/** Runs one step; here and not imported, because steps contain steps. */
export type RunStep = (at: StepRun, rows: OpenRow) => Promise<StepOutcome>

/** A step where it runs. */
export interface StepRun {
  readonly module: ModuleRun
  readonly step: Step
  /** Variables as the step sees them; those of a loop or a parallel branch are its own. */
  readonly scope: Scope
  /** Of the row that takes the step's output. */
  readonly key: string
  /** Of the step itself and of those around it, the innermost last. */
  readonly limits: readonly StepLimit[]
  /** Of the step in the module's list that this is, or is inside of; missing: it is not counted. */
  readonly trace?: StepTrace
}
