import type { Workflow } from '@scanfarm/language'
import { evaluate, type Evaluated } from './step/evaluate.ts'
import { baseScopes } from './execute.ts'
import type { ExecuteInput } from './input.ts'
import type { StepContext } from './step/step-context.ts'
import { Run } from './flow/run.ts'
import { Scope } from './flow/scope.ts'
import { moduleContext } from './step/step.ts'

/**
 * Evaluates one expression with the variables and functions of a run, in the same sandbox, folders and services that a
 * function step of a workflow has.
 */
export const evaluateStandalone = async (
  source: string,
  input: Omit<ExecuteInput, 'workflow'>,
): Promise<Evaluated> => {
  const step = { name: 'eval', type: 'function', function: source }
  const root: Workflow = { kind: 'module', name: 'eval', steps: [step] }
  await using run = new Run({ ...input, workflow: { format: 1, root, modules: {} } })
  const scope = new Scope((await baseScopes(run)).caller)
  const at: StepContext = {
    module: moduleContext(run, '', scope),
    step,
    scope,
    key: 'eval',
    limits: [],
  }
  return await evaluate(at, source)
}
