import type { Step } from '../model.ts'
import type { ModuleRun, StepRun } from './place.ts'
import { ownRow, skipStep } from './row.ts'

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
      return {
        kind: 'failed',
        error: `more than ${run.limits.stepsPerModule} steps were started: does a goto loop?`,
      }
    }
    const first = !reached.has(index)
    reached.add(index)
    const outcome = await module.runStep(placeStep(module, step, String(index + 1)), ownRow(first))
    if (outcome.kind === 'cancelled') return { kind: 'cancelled' }
    if (outcome.kind === 'skip-module') {
      skipRest(module, steps, reached, outcome.message === '' ? 'the module is skipped' : outcome.message)
      return { kind: 'skipped', message: outcome.message }
    }
    if (outcome.kind === 'failed' && !outcome.goesOn) {
      if (!run.signal.aborted) skipRest(module, steps, reached, `step '${step.name}' failed before`, false)
      return { kind: 'failed', error: outcome.error }
    }
    const goto = outcome.kind === 'completed' ? outcome.goto : undefined
    if (goto === END) break
    const target = goto === undefined ? -1 : steps.findLastIndex(({ name }) => name === goto)
    if (goto !== undefined && target === -1) run.input.recorder.log('warn', `goto names no step: ${goto}`)
    index = target === -1 ? index + 1 : target
  }
  skipRest(module, steps, reached, 'a goto went past this step')
  return { kind: 'completed' }
}

const skipRest = (
  module: ModuleRun,
  steps: readonly Step[],
  reached: ReadonlySet<number>,
  reason: string,
  counts = true,
): void => {
  for (const [index, step] of steps.entries()) {
    if (!reached.has(index)) skipStep(placeStep(module, step, String(index + 1)), reason, ownRow(counts))
  }
}
