import { FUNCTIONS } from '@scanfarm/functions'
import { evaluateExpr, fromJson, isTruthy, prepareProgram, type Value } from '@scanfarm/language'
import { evaluate, type Evaluated } from './evaluate.ts'
import type { StepContext } from './step-context.ts'

export type Condition =
  { readonly kind: 'true' } | { readonly kind: 'false' } | Exclude<Evaluated, { kind: 'value' }>

const loneVariable = (at: StepContext, source: string): Value | undefined => {
  try {
    const { simple } = prepareProgram(source)
    if (simple?.kind === 'hole') return evaluateExpr(simple.expr, at.scope)
    return simple?.kind === 'name' && !FUNCTIONS.has(simple.name) ? at.scope.get(simple.name) : undefined
  } catch {
    // `evaluate` reports the same error.
    return undefined
  }
}

/** Evaluates an expression as a condition. Of a single variable, `false`, `0` and an empty text are false. */
export const condition = async (at: StepContext, source: string): Promise<Condition> => {
  const lone = loneVariable(at, source)
  if (lone !== undefined) return { kind: isTruthy(lone) ? 'true' : 'false' }
  const result = await evaluate(at, source)
  return result.kind === 'value' ? { kind: isTruthy(fromJson(result.value)) ? 'true' : 'false' } : result
}
