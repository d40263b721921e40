import { FUNCTIONS } from '../functions/registry.ts'
import { evaluateExpr } from '../template/evaluate.ts'
import { fromJson, isTruthy } from '../template/value.ts'
import { evaluate, type Evaluated } from './evaluate.ts'
import type { StepRun } from './place.ts'

export type Condition =
  { readonly kind: 'true' } | { readonly kind: 'false' } | Exclude<Evaluated, { kind: 'value' }>

/** Is the expression true? A lone `{{variable}}`, the most common one by far, needs no engine. */
export const condition = async (at: StepRun, source: string): Promise<Condition> => {
  const { engine } = at.module.run
  try {
    const program = engine.program(source)
    const [hole] = program.holes
    if (hole !== undefined && /^\s*\$hole\[0\]\s*$/.test(program.code)) {
      return { kind: isTruthy(evaluateExpr(hole.expr, at.scope)) ? 'true' : 'false' }
    }
    const variable = /^\s*(\w+)\s*$/.exec(program.code)?.[1]
    if (variable !== undefined && !FUNCTIONS.has(variable)) {
      const value = at.scope.get(variable)
      if (value !== undefined) return { kind: isTruthy(value) ? 'true' : 'false' }
    }
  } catch {
    // The same error comes out of the evaluation, with its message.
  }
  const result = await evaluate(at, source)
  return result.kind === 'value' ? { kind: isTruthy(fromJson(result.value)) ? 'true' : 'false' } : result
}
