import type { Step } from '@scanfarm/language'
import { type ModuleContext, turnsOf } from '../step/step-context.ts'
import { ownRow, skipStep } from '../step/row.ts'
import type { StepOutcome } from '../step/step-end.ts'
import { runUnits } from '../runner/branches.ts'
import { BranchScope } from './scope.ts'
import type { Turns } from '../runner/turns.ts'
import { stepContext, runCounted, type ListEnd } from './steps-in-order.ts'

/**
 * Runs the steps of a dependency graph in parallel, each as soon as its dependencies have succeeded. Steps that depend
 * on a failed step, directly or indirectly, are skipped; all others still run. Branches divide the rate of the module.
 */
export const runByDependency = async (module: ModuleContext, steps: readonly Step[]): Promise<ListEnd> => {
  const { run } = module
  const { signal } = run
  const ended = new Map<Step | undefined, StepOutcome['kind']>()
  /** The last step of a name wins. */
  const named = new Map(steps.map((step) => [step.name, step]))
  let end = { kind: 'completed' } as ListEnd

  const work = async (step: Step, turns: Turns | undefined): Promise<void> => {
    const key = String(steps.indexOf(step) + 1)
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
    const outcome = await runCounted(stepContext(branchOf(module, turns), step, key), ownRow(true))
    ended.set(step, outcome.kind)
    if (outcome.kind === 'failed' && !outcome.continues && end.kind === 'completed')
      end = { kind: 'failed', error: outcome.error }
    if (outcome.kind === 'skip-module') end = { kind: 'skipped', message: outcome.message }
  }

  const stops = (): boolean => signal.aborted || end.kind === 'skipped'
  const order = { most: run.limits.parallelSteps, turns: turnsOf({ module }), signal, sharing: steps, stops }
  await runUnits(steps, order, work)
  return signal.aborted ? { kind: 'cancelled' } : end
}

const branchOf = (module: ModuleContext, turns: Turns | undefined): ModuleContext =>
  turns === undefined ? module : { ...module, turns, scope: new BranchScope(module.scope, turns.rate) }
