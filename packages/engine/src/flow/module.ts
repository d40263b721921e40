import { messageOf, type Step, type Workflow, authored, data, type Value } from '@scanfarm/language'
import { unmetDependency } from './dependencies.ts'
import { runHooks, runInOrder, skipSteps, type ListEnd } from './steps-in-order.ts'
import { setParams } from './params.ts'
import { contextAround, type ModuleContext } from '../step/step-context.ts'
import { registerReports } from './reports.ts'
import type { Run } from './run.ts'
import type { Turns } from '../runner/turns.ts'
import { moduleRunner } from '../runner/runner-spec.ts'
import type { Scope } from './scope.ts'
import { moduleContext } from '../step/step.ts'
import { runByDependency } from './steps-by-dependency.ts'

export interface ModulePlan {
  readonly workflow: Workflow
  /** Name of the module in the flow, or `""`. */
  readonly name: string
  readonly scope: Scope
  /** Its part of what the run may send in a second. */
  readonly turns?: Turns | undefined
  argumentOf(param: string): Value | undefined
}

export interface ModuleEnd {
  readonly end: ListEnd
  /** Variables exported to the flow; none if the module failed. */
  readonly exports: ReadonlyMap<string, Value>
}

/** Only these types use the runner of the module. */
const needsRunner = (steps: readonly Step[]): boolean =>
  steps.some(
    ({ type, step, parallel_steps: children }) =>
      type === 'bash' ||
      (step !== undefined && needsRunner([step])) ||
      (children !== undefined && needsRunner(children)),
  )

/** Copies the files that commands wrote to this machine. A failure to do so fails the module. */
const pullFiles = async (run: Run, end: ListEnd, what: string): Promise<ListEnd> => {
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

/** Prepares a module for its first step, or returns the reason why it cannot start. */
const prepareModule = async (
  run: Run,
  { workflow, name, scope, turns, argumentOf }: ModulePlan,
): Promise<ModuleContext | string> => {
  scope.set('ModuleName', data(workflow.name))
  try {
    const missing = await setParams(run, workflow.params ?? [], scope, argumentOf, name)
    if (missing !== '') return missing
    const runner = moduleRunner(workflow, run.input.runnerChoice ?? null)
    const module = moduleContext(run, name, scope, { runner, turns })
    if (workflow.dependencies !== undefined && run.input.skipValidation !== true) {
      const unmet = await unmetDependency(contextAround(module, workflow.name), workflow.dependencies)
      if (unmet !== undefined) return unmet
    }
    if (run.input.dryRun !== true && needsRunner(workflow.steps ?? [])) {
      const { type, facts } = await run.runner(module.runner)
      run.input.onRunner?.(name, { type, facts })
    }
    return module
  } catch (error) {
    return messageOf(error)
  }
}

const runSteps = async (module: ModuleContext, workflow: Workflow): Promise<ListEnd> => {
  const { steps = [], hooks, reports = [] } = workflow
  const dry = module.run.input.dryRun === true
  await runHooks(module, hooks?.pre_scan_steps ?? [], 'pre')
  const isGraph = steps.some((step) => (step.depends_on ?? []).length > 0)
  const end = isGraph ? await runByDependency(module, steps) : await runInOrder(module, steps)
  if (end.kind !== 'completed') return end
  await runHooks(module, hooks?.post_scan_steps ?? [], 'post')
  if (!dry) await registerReports(module.run, reports, module.scope)
  return module.run.signal.aborted ? { kind: 'cancelled' } : end
}

/** Records a module that cannot start: its steps are skipped with the reason, neither completed nor failed. */
export const leaveOut = (
  run: Run,
  { workflow, name, scope }: Pick<ModulePlan, 'workflow' | 'name' | 'scope'>,
  why: string,
): void => {
  const module = moduleContext(run, name, scope)
  const reason = why.replace(/^dependency check failed: /, '')
  skipSteps(module, workflow.steps ?? [], new Set(), `the module is left out: ${reason}`, false)
  run.tally.moduleLeftOut(name === '' ? workflow.name : name, reason)
}

/** Runs one module, from its params to its reports. */
export const runModule = async (run: Run, plan: ModulePlan): Promise<ModuleEnd> => {
  const { workflow, scope } = plan
  const module = await prepareModule(run, plan)
  if (typeof module === 'string') {
    if (run.signal.aborted) return { end: { kind: 'cancelled' }, exports: new Map() }
    leaveOut(run, plan, module)
    return { end: { kind: 'failed', error: module }, exports: new Map() }
  }
  const end = await pullFiles(run, await runSteps(module, workflow), `module ${workflow.name}`)
  const keeps = end.kind === 'completed' || end.kind === 'skipped'
  const names = keeps ? [...module.exported] : []
  return {
    end,
    exports: new Map(names.map((name): [string, Value] => [name, scope.get(name) ?? authored('')])),
  }
}
