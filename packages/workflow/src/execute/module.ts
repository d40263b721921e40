import type { RunnerSpec } from '@scanfarm/contracts'
import { messageOf } from '../fault.ts'
import type { Step, Workflow } from '../model.ts'
import { authored, data, type Value } from '../template/value.ts'
import { setParams } from './params.ts'
import type { ModuleRun } from './place.ts'
import { registerReports } from './reports.ts'
import type { Run } from './run.ts'
import { runnerSpec } from './runner-spec.ts'
import { Scope } from './scope.ts'
import { runInOrder, type ListEnd } from './steps-in-order.ts'

export interface ModulePlan {
  readonly workflow: Workflow
  /** Name in the flow, or `""`. */
  readonly name: string
  readonly scope: Scope
  given(param: string): Value | undefined
}

export interface ModuleEnd {
  readonly end: ListEnd
  /** What the flow gets; nothing of a module that failed. */
  readonly exports: ReadonlyMap<string, Value>
}

/** Only these run something where the module's runner is. */
const needsRunner = (steps: readonly Step[]): boolean =>
  steps.some(
    ({ type, step, parallel_steps: children }) =>
      type === 'bash' ||
      (step !== undefined && needsRunner([step])) ||
      (children !== undefined && needsRunner(children)),
  )

const specOf = (run: Run, workflow: Workflow): RunnerSpec =>
  run.input.runnerOverride ?? runnerSpec(workflow.runner, workflow.runner_config)

/** Everything before the first step. Answers why the module cannot start, or the module ready to run. */
const prepareModule = async (
  run: Run,
  { workflow, name, scope, given }: ModulePlan,
): Promise<ModuleRun | string> => {
  scope.set('ModuleName', data(workflow.name))
  scope.set('module_name', data(workflow.name))
  try {
    const missing = await setParams(run, workflow.params ?? [], scope, given)
    if (missing !== '') return missing
    const runner = specOf(run, workflow)
    if (run.input.dryRun !== true && needsRunner(workflow.steps ?? [])) await run.runner(runner)
    return { run, name, runner, scope, exported: new Set() }
  } catch (error) {
    return messageOf(error)
  }
}

/** One module from its params to its reports. */
export const runModule = async (run: Run, plan: ModulePlan): Promise<ModuleEnd> => {
  const { workflow, scope } = plan
  const module = await prepareModule(run, plan)
  if (typeof module === 'string') {
    const end: ListEnd = run.signal.aborted ? { kind: 'cancelled' } : { kind: 'failed', error: module }
    return { end, exports: new Map() }
  }
  const end = await runInOrder(module, workflow.steps ?? [])
  const keeps = end.kind === 'completed' || end.kind === 'skipped'
  const exports = new Map(
    keeps ? [...module.exported].map((name): [string, Value] => [name, scope.get(name) ?? authored('')]) : [],
  )
  if (end.kind === 'completed' && run.input.dryRun !== true)
    await registerReports(run, workflow.reports ?? [], scope)
  return { end, exports }
}
