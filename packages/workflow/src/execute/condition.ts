import { FUNCTIONS } from '../functions/registry.ts'
import { evaluateExpr } from '../template/evaluate.ts'
import { fromJson, isTruthy, type Value } from '../template/value.ts'
import { evaluate, type Evaluated } from './evaluate.ts'
import type { StepRun } from './place.ts'

export type Condition =
  { readonly kind: 'true' } | { readonly kind: 'false' } | Exclude<Evaluated, { kind: 'value' }>

const loneVariable = (at: StepRun, source: string): Value | undefined => {
  try {
    const { simple } = at.module.run.engine.program(source)
    if (simple?.kind === 'hole') return evaluateExpr(simple.expr, at.scope)
    return simple?.kind === 'name' && !FUNCTIONS.has(simple.name) ? at.scope.get(simple.name) : undefined
  } catch {
    // The evaluation tells the same with its message.
    return undefined
  }
}

/** Is the expression true? A lone variable counts by what its text says: `false`, `0` and nothing are false. */
export const condition = async (at: StepRun, source: string): Promise<Condition> => {
  const lone = loneVariable(at, source)
  if (lone !== undefined) return { kind: isTruthy(lone) ? 'true' : 'false' }
  const result = await evaluate(at, source)
  return result.kind === 'value' ? { kind: isTruthy(fromJson(result.value)) ? 'true' : 'false' } : result
}
