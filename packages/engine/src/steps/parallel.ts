import { type StepContext, interruption, signalOf } from '../step/step-context.ts'
import { pool } from '../step/pool.ts'
import { Scope } from '../flow/scope.ts'
import { sideBySide } from '../step/side-by-side.ts'
import { ownRow } from '../step/row.ts'
import type { StepEnd, StepOutcome } from '../step/step-end.ts'
import type { Value } from '@scanfarm/language'

/** Runs steps in parallel, each with its own scope and row. Their exports become exports of this step. */
export const runParallel = async (at: StepContext): Promise<StepEnd> => {
  const { run } = at.module
  const outcomes: StepOutcome[] = []
  const exports: Record<string, Value> = {}
  const outputs: string[] = []
  const steps = at.step.parallel_steps ?? []
  await sideBySide(at, steps.length, (context) =>
    pool(
      steps,
      run.limits.parallel,
      async (step, index) => {
        const beside = context()
        const child = {
          ...beside,
          step,
          scope: new Scope(beside.scope),
          key: run.uniqueKey(`${at.key}.${index + 1}`),
        }
        const outcome = await at.module.runStep(child, ownRow(false))
        outcomes[index] = outcome
        if ('output' in outcome && outcome.output !== '') outputs.push(outcome.output)
        if (outcome.kind === 'completed') Object.assign(exports, Object.fromEntries(outcome.exports))
      },
      () => !signalOf(at).aborted,
    ),
  )
  if (signalOf(at).aborted) return interruption(at)
  const output = outputs.join('\n')
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind === 'skip-module') return outcome
    if (outcome.kind === 'failed' && !outcome.continues) {
      const name = at.step.parallel_steps?.[index]?.name ?? ''
      return { kind: 'failed', error: `step '${name}' failed: ${outcome.error}`, output }
    }
  }
  return { kind: 'done', stdout: output, output, exports }
}
