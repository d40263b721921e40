import type { RunnerSpec } from '@scanfarm/contracts'
import { messageOf } from '../fault.ts'
import type { Step, Workflow } from '../model.ts'
import { authored, data, type Value } from '../template/value.ts'
import { unmetDependency } from './dependencies.ts'
import { runHooks } from './hooks.ts'
import { setParams } from './params.ts'
import type { ModuleRun, StepRun } from './place.ts'
import { registerReports } from './reports.ts'
import type { Run } from './run.ts'
import { moduleRunner } from './runner-spec.ts'
import type { Scope } from './scope.ts'
import { runStep } from './step.ts'
import { runByNeed } from './steps-by-need.ts'
import { runInOrder, skipSteps, type ListEnd } from './steps-in-order.ts'

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
  moduleRunner(workflow, run.input.askedRunner ?? null)

/** What commands have written is here when the module is over; that it cannot be is a failure. */
const bringBack = async (run: Run, end: ListEnd, what: string): Promise<ListEnd> => {
  if (run.signal.aborted) return end
  try {
    await run.files.beforeLocal()
    return end
  } catch (error) {
    if (end.kind !== 'completed') return end
    const message = messageOf(error)
    run.tally.failed(what, message)
    return { kind: 'failed', error: message }
  }
}

/** The module itself as a place, for conditions and checks that belong to no step. */
const placeOf = (module: ModuleRun, workflow: Workflow): StepRun => ({
  module,
  step: { name: workflow.name, type: 'module', suppress_details: true },
  scope: module.scope,
  key: '',
  limits: [],
})

/** Everything before the first step: a module that is ready to run, or why it cannot. */
const prepareModule = async (
  run: Run,
  { workflow, name, scope, given }: ModulePlan,
): Promise<ModuleRun | string> => {
  scope.set('ModuleName', data(workflow.name))
  try {
    const missing = await setParams(run, workflow.params ?? [], scope, given)
    if (missing !== '') return missing
    const module: ModuleRun = {
      run,
      name,
      runner: specOf(run, workflow),
      scope,
      exported: new Set(),
      runStep,
    }
    if (workflow.dependencies !== undefined && run.input.skipValidation !== true) {
      const unmet = await unmetDependency(placeOf(module, workflow), workflow.dependencies)
      if (unmet !== undefined) return unmet
    }
    if (run.input.dryRun !== true && needsRunner(workflow.steps ?? [])) {
      const { type, facts } = await run.runner(module.runner)
      run.input.onPlace?.(name, { type, facts })
    }
    return module
  } catch (error) {
    return messageOf(error)
  }
}

const runSteps = async (module: ModuleRun, workflow: Workflow): Promise<ListEnd> => {
  const { steps = [], hooks, reports = [] } = workflow
  const dry = module.run.input.dryRun === true
  await runHooks(module, hooks?.pre_scan_steps ?? [], 'pre')
  const isGraph = steps.some((step) => (step.depends_on ?? []).length > 0)
  const end = isGraph ? await runByNeed(module, steps) : await runInOrder(module, steps)
  if (end.kind !== 'completed') return end
  await runHooks(module, hooks?.post_scan_steps ?? [], 'post')
  if (!dry) await registerReports(module.run, reports, module.scope)
  return module.run.signal.aborted ? { kind: 'cancelled' } : end
}

/**
 * A module that is due and cannot begin: its steps are recorded as skipped with the reason, and count neither as
 * completed nor as failed.
 */
export const leaveOut = (
  run: Run,
  { workflow, name, scope }: Pick<ModulePlan, 'workflow' | 'name' | 'scope'>,
  why: string,
): void => {
  const module: ModuleRun = { run, name, runner: { type: 'host' }, scope, exported: new Set(), runStep }
  const reason = why.replace(/^dependency check failed: /, '')
  skipSteps(module, workflow.steps ?? [], new Set(), `the module is left out: ${reason}`, false)
  run.tally.moduleLeftOut(name === '' ? workflow.name : name, reason)
}

/** One module from its params to its reports. */
export const runModule = async (run: Run, plan: ModulePlan): Promise<ModuleEnd> => {
  const { workflow, scope } = plan
  const module = await prepareModule(run, plan)
  if (typeof module === 'string') {
    if (run.signal.aborted) return { end: { kind: 'cancelled' }, exports: new Map() }
    leaveOut(run, plan, module)
    return { end: { kind: 'failed', error: module }, exports: new Map() }
  }
  const end = await bringBack(run, await runSteps(module, workflow), `module ${workflow.name}`)
  const keeps = end.kind === 'completed' || end.kind === 'skipped'
  const names = keeps ? [...module.exported] : []
  return {
    end,
    exports: new Map(names.map((name): [string, Value] => [name, scope.get(name) ?? authored('')])),
  }
}
