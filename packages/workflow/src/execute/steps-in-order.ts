import type { Step } from '../model.ts'
import type { ModuleRun, StepRun } from './place.ts'
import { ownRow, skipStep, type OpenRow } from './row.ts'
import type { StepOutcome } from './step-end.ts'

export type ListEnd =
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly error: string; readonly abort?: boolean }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'skipped'; readonly message: string }

/** A `goto` to this name leaves the list. */
const END = '_end'

export const placeStep = (module: ModuleRun, step: Step, key: string): StepRun => ({
  module,
  step,
  scope: module.scope,
  limits: [],
  key: module.run.uniqueKey(module.name === '' ? key : `${module.name}/${key}`),
})

/** A step of the module's list: what became of it counts for the outcome of the run. */
export const runCounted = async (at: StepRun, rows: OpenRow): Promise<StepOutcome> => {
  const { run, name: module, runStep } = at.module
  return await run.tally.step(
    { name: at.step.name, module },
    async (trace) => await runStep({ ...at, trace }, rows),
  )
}

/**
 * Steps one after the other. The first that fails ends the list unless it says `continue`; a decision may go on
 * elsewhere, also backwards, which the bound on started steps brings to an end. Steps that were never reached are
 * recorded as skipped, unless the run was cancelled; those behind a failure do not count as completed.
 */
export const runInOrder = async (module: ModuleRun, steps: readonly Step[]): Promise<ListEnd> => {
  const { run } = module
  const reached = new Set<number>()
  let started = 0
  for (let index = 0; index < steps.length;) {
    const step = steps[index]
    if (step === undefined) break
    if (run.signal.aborted) return { kind: 'cancelled' }
    if (++started > run.limits.stepsPerModule) {
      const error = `more than ${run.limits.stepsPerModule} steps were started: does a goto loop?`
      run.tally.failed(`module ${module.name}`, error)
      return { kind: 'failed', error }
    }
    const first = !reached.has(index)
    reached.add(index)
    const outcome = await runCounted(placeStep(module, step, String(index + 1)), ownRow(first))
    if (outcome.kind === 'cancelled') return { kind: 'cancelled' }
    if (outcome.kind === 'skip-module') {
      skipSteps(module, steps, reached, outcome.message === '' ? 'the module is skipped' : outcome.message)
      return { kind: 'skipped', message: outcome.message }
    }
    if (outcome.kind === 'failed' && !outcome.goesOn) {
      if (!run.signal.aborted) {
        const reason = `step '${step.name}' failed before`
        run.tally.stepsLeftOut(skipSteps(module, steps, reached, reason, false), module.name, reason)
      }
      return { kind: 'failed', error: outcome.error }
    }
    const goto = outcome.kind === 'completed' ? outcome.goto : undefined
    if (goto === END) break
    const target = goto === undefined ? -1 : steps.findLastIndex(({ name }) => name === goto)
    if (goto !== undefined && target === -1) run.input.recorder.log('warn', `goto names no step: ${goto}`)
    index = target === -1 ? index + 1 : target
  }
  skipSteps(module, steps, reached, 'a goto went past this step')
  return { kind: 'completed' }
}

/** Rows for the steps that were not reached, with the reason; how many they are. */
export const skipSteps = (
  module: ModuleRun,
  steps: readonly Step[],
  reached: ReadonlySet<number>,
  reason: string,
  counts = true,
): number => {
  const rest = [...steps.entries()].filter(([index]) => !reached.has(index))
  for (const [index, step] of rest)
    skipStep(placeStep(module, step, String(index + 1)), reason, ownRow(counts))
  return rest.length
}
