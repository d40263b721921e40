import type { Json, Workflow } from '../model.ts'
import { evaluate } from './evaluate.ts'
import { baseScopes } from './execute.ts'
import type { ExecuteInput } from './input.ts'
import type { StepRun } from './place.ts'
import { Run } from './run.ts'
import { Scope } from './scope.ts'
import { runStep } from './step.ts'

/** What became of an expression that no workflow holds. */
export type AloneResult =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'cancelled' }
  /** `skip` or `exit(0)` ended it. */
  | { readonly kind: 'skip-module'; readonly message: string }

/**
 * Evaluates one expression with the variables and functions of a run: in the same sandbox, and with the same folders,
 * paths and services that a function step of a workflow would have.
 */
export const evaluateAlone = async (
  source: string,
  input: Omit<ExecuteInput, 'workflow'>,
): Promise<AloneResult> => {
  const step = { name: 'eval', type: 'function', function: source }
  const root: Workflow = { kind: 'module', name: 'eval', steps: [step] }
  await using run = new Run({ ...input, workflow: { format: 1, root, modules: {} } })
  const scope = new Scope((await baseScopes(run)).caller)
  const at: StepRun = {
    module: { run, name: '', runner: { type: 'host' }, scope, exported: new Set(), runStep },
    step,
    scope,
    key: 'eval',
    limits: [],
  }
  return await evaluate(at, source)
}
