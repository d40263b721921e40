import type { Step } from '../model.ts'
import type { ModuleRun, StepRun } from './place.ts'
import { runStep, type StepOutcome } from './step.ts'

export type ListEnd =
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'skipped'; readonly message: string }

/** Exports of a step become variables of the module. */
export const keepExports = (module: ModuleRun, outcome: StepOutcome): void => {
  if (outcome.kind !== 'completed') return
  for (const [name, value] of outcome.exports) {
    module.scope.set(name, value)
    module.exported.add(name)
  }
}

export const placeStep = (module: ModuleRun, step: Step, key: string): StepRun => ({
  module,
  step,
  scope: module.scope,
  key: module.run.uniqueKey(module.name === '' ? key : `${module.name}/${key}`),
})

/** Steps one after the other; the first that fails ends the list unless it says `continue`. */
export const runInOrder = async (module: ModuleRun, steps: readonly Step[]): Promise<ListEnd> => {
  const { run } = module
  for (const [index, step] of steps.entries()) {
    if (run.signal.aborted) return { kind: 'cancelled' }
    const outcome = await runStep(placeStep(module, step, String(index + 1)), true)
    keepExports(module, outcome)
    if (outcome.kind === 'cancelled') return { kind: 'cancelled' }
    if (outcome.kind === 'skip-module') return { kind: 'skipped', message: outcome.message }
    if (outcome.kind === 'failed' && !outcome.goesOn) return { kind: 'failed', error: outcome.error }
  }
  return { kind: 'completed' }
}
