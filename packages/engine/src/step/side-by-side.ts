import { Scope } from '../flow/scope.ts'
import type { StepContext } from './step-context.ts'

/** The context of each of some commands or steps that run side by side: they divide what the run may send in a second. */
export const sideBySide = (at: StepContext, count: number): StepContext => {
  const { limits, input } = at.module.run
  const all = at.rate ?? input.rate
  if (all === undefined) return at
  const rate = Math.floor(all / Math.max(1, Math.min(count, limits.parallel, all)))
  const scope = new Scope(at.scope)
  scope.set('Rate', rate)
  return { ...at, rate, scope }
}
