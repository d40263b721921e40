import type { Step } from '@scanfarm/language'
import { type ModuleContext, turnsOf } from '../step/step-context.ts'
import { ownRow, skipStep } from '../step/row.ts'
import type { StepOutcome } from '../step/step-end.ts'
import { Branches } from '../runner/branches.ts'
import { BranchScope } from './scope.ts'
import type { Turns } from '../runner/turns.ts'
import { stepContext, runCounted, type ListEnd } from './steps-in-order.ts'

/**
 * Runs the steps of a dependency graph in parallel, each as soon as its dependencies have succeeded. Steps that depend
 * on a failed step, directly or indirectly, are skipped; all others still run. Branches divide the rate of the module.
 */
export const runByDependency = async (module: ModuleContext, steps: readonly Step[]): Promise<ListEnd> => {
  const branches = Branches.of(steps, module.run.limits.parallelSteps, turnsOf({ module }))
  if (branches === undefined) return await runGraph(module, steps)
  return await branches.during(module.run.signal, () => runGraph(module, steps, branches))
}

const runGraph = async (
  module: ModuleContext,
  steps: readonly Step[],
  branches?: Branches<Step>,
): Promise<ListEnd> => {
  const { run } = module
  const ended = new Map<Step | undefined, StepOutcome['kind']>()
  const started = new Set<Step>()
  /** The last step of a name wins. */
  const named = new Map(steps.map((step) => [step.name, step]))
  const running = new Set<Promise<void>>()
  let end = { kind: 'completed' } as ListEnd

  const start = async (step: Step, key: string): Promise<void> => {
    const bad = (step.depends_on ?? []).find(
      (name) => !['completed', 'skipped'].includes(ended.get(named.get(name)) ?? ''),
    )
    if (bad !== undefined) {
      skipStep(
        stepContext(module, step, key),
        `step '${bad}', which this one depends on, did not succeed`,
        ownRow(false),
      )
      run.tally.stepsLeftOut(1, module.name, `step '${bad}' did not succeed`)
      ended.set(step, 'failed')
      return
    }
    const outcome = await runCounted(
      stepContext(branchOf(module, branches?.begin(step)), step, key),
      ownRow(true),
    )
    ended.set(step, outcome.kind)
    if (outcome.kind === 'failed' && !outcome.continues && end.kind === 'completed')
      end = { kind: 'failed', error: outcome.error }
    if (outcome.kind === 'skip-module') end = { kind: 'skipped', message: outcome.message }
  }

  for (;;) {
    for (const [index, step] of steps.entries()) {
      if (run.signal.aborted || end.kind === 'skipped' || running.size >= run.limits.parallelSteps) break
      if (started.has(step) || !(step.depends_on ?? []).every((name) => ended.has(named.get(name)))) continue
      started.add(step)
      const task: Promise<void> = start(step, String(index + 1)).finally(() => {
        branches?.end(step)
        running.delete(task)
      })
      running.add(task)
    }
    if (running.size === 0) break
    await Promise.race(running)
  }
  return run.signal.aborted ? { kind: 'cancelled' } : end
}

const branchOf = (module: ModuleContext, turns: Turns | undefined): ModuleContext =>
  turns === undefined ? module : { ...module, turns, scope: new BranchScope(module.scope, turns.rate) }
