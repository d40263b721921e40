import { BranchScope, type Scope } from '../flow/scope.ts'
import { Turns } from '../runner/turns.ts'
import { type StepContext, signalOf, turnsOf } from './step-context.ts'

const THOUSANDTHS = 1_000

/**
 * Does the work of commands, functions or steps that run side by side. They divide what the run may send in a second, into
 * fractions if need be, so that each may wait for the others. `context` is for one of them.
 */
export const sideBySide = async <T>(
  at: StepContext,
  count: number,
  work: (context: () => StepContext) => Promise<T>,
): Promise<T> => {
  const turns = turnsOf(at)
  if (turns === undefined) return await work(() => at)
  const part = partAt(at, count)
  const context = (): StepContext => ({ ...at, scope: scopeOf(at, count), turns: new Turns(part) })
  return await turns.take(signalOf(at), () => work(context))
}

/** The variables of each of them. */
export const scopeOf = (at: StepContext, count: number): Scope =>
  turnsOf(at) === undefined ? at.scope : new BranchScope(at.scope, partAt(at, count))

const partAt = (at: StepContext, count: number): number =>
  partOf(turnsOf(at)?.rate ?? 0, Math.min(count, at.module.run.limits.parallel))

/** What one of so many may send in a second. */
export const partOf = (all: number, count: number): number => {
  const part = all / Math.max(1, count)
  return part < 1 ? Math.floor(part * THOUSANDTHS) / THOUSANDTHS : Math.floor(part)
}
