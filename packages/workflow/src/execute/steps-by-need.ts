import type { Step } from '../model.ts'
import type { ModuleRun } from './place.ts'
import { ownRow, skipStep } from './row.ts'
import type { StepOutcome } from './step-end.ts'
import { placeStep, runCounted, type ListEnd } from './steps-in-order.ts'

/**
 * Steps as a graph: each as soon as all it depends on has ended well, several at a time. What depends on a failed
 * step is skipped, and so on down the graph; everything else still runs.
 */
export const runByNeed = async (module: ModuleRun, steps: readonly Step[]): Promise<ListEnd> => {
  const { run } = module
  const ended = new Map<Step | undefined, StepOutcome['kind']>()
  const started = new Set<Step>()
  /** Of steps with one name the later one is meant. */
  const named = new Map(steps.map((step) => [step.name, step]))
  const running = new Set<Promise<void>>()
  let end = { kind: 'completed' } as ListEnd

  const start = async (step: Step, key: string): Promise<void> => {
    const bad = (step.depends_on ?? []).find(
      (name) => !['completed', 'skipped'].includes(ended.get(named.get(name)) ?? ''),
    )
    if (bad !== undefined) {
      skipStep(
        placeStep(module, step, key),
        `step '${bad}', which this one depends on, did not succeed`,
        ownRow(false),
      )
      run.tally.stepsLeftOut(1, module.name, `step '${bad}' did not succeed`)
      ended.set(step, 'failed')
      return
    }
    const outcome = await runCounted(placeStep(module, step, key), ownRow(true))
    ended.set(step, outcome.kind)
    if (outcome.kind === 'failed' && !outcome.goesOn && end.kind === 'completed')
      end = { kind: 'failed', error: outcome.error }
    if (outcome.kind === 'skip-module') end = { kind: 'skipped', message: outcome.message }
  }

  for (;;) {
    for (const [index, step] of steps.entries()) {
      if (run.signal.aborted || end.kind === 'skipped' || running.size >= run.limits.parallelSteps) break
      if (started.has(step) || !(step.depends_on ?? []).every((name) => ended.has(named.get(name)))) continue
      started.add(step)
      const task: Promise<void> = start(step, String(index + 1)).finally(() => running.delete(task))
      running.add(task)
    }
    if (running.size === 0) break
    await Promise.race(running)
  }
  return run.signal.aborted ? { kind: 'cancelled' } : end
}
