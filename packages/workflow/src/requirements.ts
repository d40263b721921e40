import type { AskedRunner, RunnerType } from '@scanfarm/contracts'
import { workflowOf } from './execute/flow.ts'
import { moduleRunner } from './execute/runner-spec.ts'
import { messageOf } from './fault.ts'
import type { ResolvedWorkflow } from './library/resolve.ts'
import type { Workflow } from './model.ts'

/** The workflows whose steps run: the modules of a flow with the settings of the flow, or the module itself. */
export const modulesOf = (resolved: ResolvedWorkflow): Workflow[] =>
  resolved.root.kind === 'module'
    ? [resolved.root]
    : (resolved.root.modules ?? []).flatMap((ref) => workflowOf(resolved, ref) ?? [])

/** Where the commands of a run execute: the one kind that its modules have in common, else what the flow itself says. */
export const runnerOf = (resolved: ResolvedWorkflow): RunnerType => {
  const [type, ...others] = new Set(modulesOf(resolved).map(({ runner = 'host' }) => runner))
  return type === undefined || others.length > 0 ? (resolved.root.runner ?? 'host') : type
}

export interface RunnerProblem {
  /** Name of the module, or of the flow whose dependencies are looked for there. */
  readonly name: string
  readonly message: string
}

/** Why modules cannot run in the runner that their files and the caller ask for. */
export const runnerProblems = (resolved: ResolvedWorkflow, asked: AskedRunner): RunnerProblem[] => {
  const { root } = resolved
  const checksFlow = root.kind === 'flow' && root.dependencies !== undefined
  return [...(checksFlow ? [root] : []), ...modulesOf(resolved)].flatMap((workflow) => {
    try {
      moduleRunner(workflow, asked)
      return []
    } catch (error) {
      return [{ name: workflow.name, message: messageOf(error) }]
    }
  })
}

/**
 * Words that a worker must have to run this: `docker` where commands run in containers, `tool:NAME` for every program
 * that the workflow declares and that has to be on the worker itself. Sorted, each once.
 */
export const requirements = (
  resolved: ResolvedWorkflow,
  { runner }: { runner?: RunnerType } = {},
): string[] => {
  const words = [...new Set([resolved.root, ...modulesOf(resolved)])].flatMap((workflow) => {
    const where = runner ?? workflow.runner ?? 'host'
    const tools = where === 'host' ? (workflow.dependencies?.commands ?? []) : []
    const remote = (workflow.steps ?? []).some(({ step_runner: other }) => other === 'docker')
    return [...(where === 'docker' || remote ? ['docker'] : []), ...tools.map((name) => `tool:${name}`)]
  })
  return [...new Set(words)].sort()
}
