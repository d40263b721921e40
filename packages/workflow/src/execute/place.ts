import type { RunnerSpec } from '@scanfarm/contracts'
import type { Step } from '../model.ts'
import type { Run } from './run.ts'
import type { Scope } from './scope.ts'

/** A module while it runs: what its steps have in common. */
export interface ModuleRun {
  readonly run: Run
  /** Name of the flow's module, or `""` for a module that is run by itself. */
  readonly name: string
  readonly runner: RunnerSpec
  readonly scope: Scope
  /** Names that steps exported, to be handed on to the flow. */
  readonly exported: Set<string>
}

/** A step where it runs. */
export interface StepRun {
  readonly module: ModuleRun
  readonly step: Step
  /** Variables as the step sees them; those of a loop or a parallel branch are its own. */
  readonly scope: Scope
  /** Of the row that takes the step's output. */
  readonly key: string
}
