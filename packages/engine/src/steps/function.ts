import type { Json } from '@scanfarm/language'
import { Capture } from '../runner/capture.ts'
import { evaluate, type Evaluated } from '../step/evaluate.ts'
import { type StepContext, interruption, signalOf } from '../step/step-context.ts'
import { pool } from '../step/pool.ts'
import { sideBySide } from '../step/side-by-side.ts'
import { show } from '../step/row.ts'
import { failed, type StepEnd } from '../step/step-end.ts'

export const functionsOf = ({
  step,
}: Pick<StepContext, 'step'>): { list: readonly string[]; parallel: boolean } => {
  if ((step.parallel_functions ?? []).length > 0)
    return { list: step.parallel_functions ?? [], parallel: true }
  if ((step.functions ?? []).length > 0) return { list: step.functions ?? [], parallel: false }
  return { list: step.function === undefined ? [] : [step.function], parallel: false }
}

export const resultText = (value: Json): string =>
  value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)

const toEnd = (at: StepContext, results: readonly Evaluated[]): StepEnd => {
  const bad = results.find(({ kind }) => kind !== 'value')
  if (bad?.kind === 'skip-module') return bad
  if (signalOf(at).aborted || bad?.kind === 'cancelled') return interruption(at)
  if (bad?.kind === 'error') return failed(bad.message)
  const [first] = results
  const text = first?.kind === 'value' ? resultText(first.value) : ''
  return { kind: 'done', stdout: text, output: text }
}

/** Evaluates expressions in sequence or in parallel. The output of the step is the first result. */
export const runFunctions = async (at: StepContext): Promise<StepEnd> => {
  const { run } = at.module
  const { list, parallel } = functionsOf(at)
  const results: Evaluated[] = []
  let stopped = false
  const evaluateAll = async (context: () => StepContext): Promise<void> =>
    await pool(
      list,
      parallel ? run.limits.parallel : 1,
      async (source, index) => {
        const result = await evaluate(context(), source)
        results[index] = result
        if (result.kind === 'skip-module' || (!parallel && result.kind !== 'value')) stopped = true
      },
      () => !stopped && !signalOf(at).aborted,
    )
  await (parallel ? sideBySide(at, list.length, evaluateAll) : evaluateAll(() => at))
  const end = toEnd(at, results)
  if (end.kind === 'done' && end.output !== '') {
    const capture = new Capture(run.limits.captureBytes)
    capture.add('stdout', Buffer.from(`${end.output}\n`))
    await show(at, `${capture.text('stdout').trimEnd()}\n`)
  }
  return end
}
