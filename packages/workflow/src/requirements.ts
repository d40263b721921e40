import type { RunnerType } from '@scanfarm/contracts'
import { workflowOf } from './execute/flow.ts'
import type { ResolvedWorkflow } from './library/resolve.ts'
import type { Workflow } from './model.ts'

const workflowsOf = (resolved: ResolvedWorkflow): Workflow[] => [
  resolved.root,
  ...(resolved.root.modules ?? []).flatMap((ref) => workflowOf(resolved, ref) ?? []),
]

/**
 * Words that a worker must have to run this: `docker` where commands run in containers, `tool:NAME` for every program
 * that the workflow declares and that has to be on the worker itself. Sorted, each once.
 */
export const requirements = (
  resolved: ResolvedWorkflow,
  { runner }: { runner?: RunnerType } = {},
): string[] => {
  const words = workflowsOf(resolved).flatMap((workflow) => {
    const where = runner ?? workflow.runner ?? 'host'
    const tools = where === 'host' ? (workflow.dependencies?.commands ?? []) : []
    const remote = (workflow.steps ?? []).some(({ step_runner: other }) => other === 'docker')
    return [...(where === 'docker' || remote ? ['docker'] : []), ...tools.map((name) => `tool:${name}`)]
  })
  return [...new Set(words)].sort()
}
