import type { Step } from '@scanfarm/language'
import { type ModuleContext, type StepContext, type OpenRow } from '../step/step-context.ts'
import { ownRow, skipStep } from '../step/row.ts'
import type { StepOutcome } from '../step/step-end.ts'
import { runOnce } from './resume.ts'

export type ListEnd =
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly error: string; readonly abort?: boolean }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'skipped'; readonly message: string }

/** A `goto` to this name ends the list. */
const END = '_end'

export const stepContext = (module: ModuleContext, step: Step, key: string): StepContext => ({
  module,
  step,
  scope: module.scope,
  limits: [],
  key: module.run.uniqueKey(module.name === '' ? key : `${module.name}/${key}`),
})

/** Runs a step of the module's list and counts its result towards the outcome of the run. */
export const runCounted = async (at: StepContext, rows: OpenRow): Promise<StepOutcome> => {
  const { run, name: module } = at.module
  return await run.tally.step(
    { name: at.step.name, module },
    async (trace) => await runOnce({ ...at, trace }, rows),
  )
}

/**
 * Runs steps one after the other. The first failure ends the list unless the step has `on_error: continue`. Decisions
 * may jump in both directions; the limit on started steps ends endless loops. Steps that were not reached are recorded
 * as skipped, unless the run was cancelled; after a failure they do not count as completed.
 */
export const runInOrder = async (module: ModuleContext, steps: readonly Step[]): Promise<ListEnd> => {
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
    const outcome = await runCounted(stepContext(module, step, String(index + 1)), ownRow(first))
    if (outcome.kind === 'cancelled') return { kind: 'cancelled' }
    if (outcome.kind === 'skip-module') {
      skipSteps(module, steps, reached, outcome.message === '' ? 'the module is skipped' : outcome.message)
      return { kind: 'skipped', message: outcome.message }
    }
    if (outcome.kind === 'failed' && !outcome.continues) {
      if (!run.signal.aborted) {
        const reason = `step '${step.name}' failed before`
        run.tally.stepsLeftOut(skipSteps(module, steps, reached, reason, false), module.name, reason)
      }
      return { kind: 'failed', error: outcome.error }
    }
    const goto = outcome.kind === 'completed' ? outcome.goto : undefined
    if (goto === END) break
    const target = goto === undefined ? -1 : steps.findLastIndex(({ name }) => name === goto)
    if (goto !== undefined && target === -1)
      run.input.recorder.log('warn', `goto to an unknown step: ${goto}`)
    index = target === -1 ? index + 1 : target
  }
  skipSteps(module, steps, reached, 'a goto skipped this step')
  return { kind: 'completed' }
}

/** Records the steps that were not reached as skipped, with the reason. Returns their number. */
export const skipSteps = (
  module: ModuleContext,
  steps: readonly Step[],
  reached: ReadonlySet<number>,
  reason: string,
  counts = true,
): number => {
  const rest = [...steps.entries()].filter(([index]) => !reached.has(index))
  for (const [index, step] of rest)
    skipStep(stepContext(module, step, String(index + 1)), reason, ownRow(counts))
  return rest.length
}

/** Runs hooks. They are recorded but not counted, and failures only cause a warning. */
export const runHooks = async (
  module: ModuleContext,
  steps: readonly Step[],
  when: 'pre' | 'post',
): Promise<void> => {
  const { run } = module
  for (const [index, step] of steps.entries()) {
    if (run.signal.aborted) return
    const outcome = await runOnce(stepContext(module, step, `${when}-hook-${index + 1}`), ownRow(false))
    if (outcome.kind === 'failed')
      run.input.recorder.log('warn', `hook ${step.name} failed: ${outcome.error}`)
  }
}
