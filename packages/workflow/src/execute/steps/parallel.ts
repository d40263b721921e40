import type { StepRun } from '../place.ts'
import { pool } from '../pool.ts'
import { Scope } from '../scope.ts'
import { ownRow } from '../row.ts'
import { interruption, signalOf } from '../step-limit.ts'
import type { StepEnd, StepOutcome } from '../step-end.ts'
import type { Value } from '../../template/value.ts'

/** Steps side by side, each with variables and a row of its own; what they export is this step's export. */
export const runParallel = async (at: StepRun): Promise<StepEnd> => {
  const { run } = at.module
  const outcomes: StepOutcome[] = []
  const exports: Record<string, Value> = {}
  const outputs: string[] = []
  await pool(
    at.step.parallel_steps ?? [],
    run.limits.parallel,
    async (step, index) => {
      const child = { ...at, step, scope: new Scope(at.scope), key: run.uniqueKey(`${at.key}.${index + 1}`) }
      const outcome = await at.module.runStep(child, ownRow(false))
      outcomes[index] = outcome
      if ('output' in outcome && outcome.output !== '') outputs.push(outcome.output)
      if (outcome.kind === 'completed') Object.assign(exports, Object.fromEntries(outcome.exports))
    },
    () => !signalOf(at).aborted,
  )
  if (signalOf(at).aborted) return interruption(at)
  const output = outputs.join('\n')
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind === 'skip-module') return outcome
    if (outcome.kind === 'failed' && !outcome.goesOn) {
      const name = at.step.parallel_steps?.[index]?.name ?? ''
      return { kind: 'failed', error: `step '${name}' failed: ${outcome.error}`, output }
    }
  }
  return { kind: 'done', stdout: output, output, exports }
}
