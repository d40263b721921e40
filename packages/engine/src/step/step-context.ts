import type { RunnerSpec, StepClosed } from '@scanfarm/contracts'
import type { Step } from '@scanfarm/language'
import type { Run } from '../flow/run.ts'
import type { Turns } from '../runner/turns.ts'
import type { Scope } from '../flow/scope.ts'
import type { StepLimit } from './step-limit.ts'
import { failed, type BadEnd, type StepOutcome } from './step-end.ts'
import type { StepTrace } from '../flow/tally.ts'

export interface Closing {
  readonly error?: string | undefined
  readonly exports?: Record<string, string>
  readonly exitCode?: number | undefined
  /** The output of the step, for rows that did not receive it while it was written. */
  readonly output?: string | undefined
}

/** The record of a step. */
export interface Row {
  close(status: StepClosed['status'], closing?: Closing): void
}

/** Opens the record of a step once its command is rendered. */
export type OpenRow = (at: StepContext, command: string) => Row

/** The state that the steps of a running module share. */
export interface ModuleContext {
  readonly run: Run
  /** Name of the module in the flow, or `""` if the run's workflow is a module. */
  readonly name: string
  readonly runner: RunnerSpec
  readonly scope: Scope
  /** Names that steps exported; they are passed on to the flow. */
  readonly exported: Set<string>
  readonly runStep: RunStep
  /** When its commands may run, if it has a part of what the run may send in a second. */
  readonly turns?: Turns | undefined
}

/** Runs one step. Injected, because steps contain steps and an import would be circular. */
export type RunStep = (at: StepContext, rows: OpenRow) => Promise<StepOutcome>

/** The context in which a step runs. */
export interface StepContext {
  readonly module: ModuleContext
  readonly step: Step
  /** Variables of the step. Loop items and parallel branches have their own scopes. */
  readonly scope: Scope
  /** Key of the row that receives the step's output. */
  readonly key: string
  /** Time limits of the step and of the steps around it, the innermost last. */
  readonly limits: readonly StepLimit[]
  /** When its commands may run, if it has a part of what the run may send in a second. */
  readonly turns?: Turns
  /** Of steps inside an item of a loop. */
  readonly afterItem?: StepClosed['afterItem']
  /** Trace of the enclosing step in the module's list; missing if the step is not counted. */
  readonly trace?: StepTrace
}

/** For conditions, checks and actions that belong to a module or flow and not to a step. */
export const contextAround = (
  module: ModuleContext,
  name: string,
  { key = '', type = 'module' }: { readonly key?: string; readonly type?: string } = {},
): StepContext => ({
  module,
  step: { name, type, suppress_details: true },
  scope: module.scope,
  key,
  limits: [],
})

/** Undefined: commands may run at any time. */
export const turnsOf = (at: Pick<StepContext, 'module' | 'turns'>): Turns | undefined =>
  at.turns ?? at.module.turns ?? at.module.run.turns

/** Aborted when the run ends, or when the time limit of the step or of one around it expires. */
export const signalOf = (at: StepContext): AbortSignal => at.limits.at(-1)?.signal ?? at.module.run.signal

/** The end of a step that was stopped. */
export const interruption = (at: StepContext): BadEnd => {
  const { run } = at.module
  const error = run.signal.aborted
    ? undefined
    : at.limits.findLast((limit) => limit.error !== undefined)?.error
  return error === undefined ? run.interruption() : failed(error)
}
