import { looksLikeCall, unknownCall, data, fromJson, toPlain, type Value } from '@scanfarm/language'
import { FUNCTIONS } from '@scanfarm/functions'
import { evaluate } from './evaluate.ts'
import type { StepContext } from './step-context.ts'
import { renderValue } from './render.ts'
import { Scope } from '../flow/scope.ts'
import type { StepEnd } from './step-end.ts'

/** Variables that hold the results of the step itself. An export may consist of one of them alone: `ports: stdout`. */
const RESULTS = ['stdout', 'StepOutput', 'output', 'result', 'exit_code'] as const

/** The step's scope with its results added. */
export const withResults = (at: StepContext, end: StepEnd & { kind: 'done' }): StepContext => {
  const scope = new Scope(at.scope)
  const output = data(end.output)
  scope.setAll([
    ['stdout', data(end.stdout)],
    ['StepOutput', output],
    ['output', output],
    ['result', output],
    ['exit_code', end.exitCode ?? 0],
  ])
  scope.setAll(Object.entries(end.exports ?? {}))
  return { ...at, scope }
}

export type Exports =
  | { readonly kind: 'exports'; readonly values: ReadonlyMap<string, Value> }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'cancelled' }

/** The exported variables of a successful step. */
export const evaluateExports = async (at: StepContext, end: StepEnd & { kind: 'done' }): Promise<Exports> => {
  const values = new Map<string, Value>(Object.entries(end.exports ?? {}))
  const declared = Object.entries(at.step.exports ?? {})
  if (declared.length === 0) return { kind: 'exports', values }
  const inside = withResults(at, end)
  for (const [name, text] of declared) {
    const word = RESULTS.find((known) => known === text.trim())
    if (word !== undefined) {
      values.set(name, inside.scope.get(word) ?? data(''))
      continue
    }
    const unknown = unknownCall(text, FUNCTIONS)
    if (unknown !== undefined)
      return {
        kind: 'error',
        message: `export evaluation failed for ${name}: there is no function "${unknown}"`,
      }
    if (!looksLikeCall(text, FUNCTIONS)) {
      values.set(name, renderValue(text, inside.scope))
      continue
    }
    const result = await evaluate(inside, text)
    if (result.kind === 'error')
      return { kind: 'error', message: `export evaluation failed for ${name}: ${result.message}` }
    if (result.kind !== 'value') return { kind: 'cancelled' }
    values.set(name, fromJson(result.value))
  }
  return { kind: 'exports', values }
}

/** The exports for the record, as texts of bounded length. */
export const recordedExports = (
  at: StepContext,
  values: ReadonlyMap<string, Value>,
): Record<string, string> => {
  const { run } = at.module
  return Object.fromEntries(
    [...values].map(([name, value]) => [name, run.recordable(toPlain(value), run.limits.exportChars)]),
  )
}
