import type { RunnerChoice, RunnerType } from '@scanfarm/contracts'
import { workflowOf } from './flow/modules-of.ts'
import { moduleRunner } from './runner/runner-spec.ts'
import { everyStep, messageOf, type ResolvedWorkflow, type Workflow } from '@scanfarm/language'

/** The modules that a run executes, each with the settings that it inherits from the flow. */
export const modulesOf = (resolved: ResolvedWorkflow): Workflow[] =>
  resolved.root.kind === 'module'
    ? [resolved.root]
    : (resolved.root.modules ?? []).flatMap((ref) => workflowOf(resolved, ref) ?? [])

/** The runner type of a run: the type that all its modules share, else that of the flow itself. */
export const runnerOf = (resolved: ResolvedWorkflow): RunnerType => {
  const [type, ...others] = new Set(modulesOf(resolved).map(({ runner = 'host' }) => runner))
  return type === undefined || others.length > 0 ? (resolved.root.runner ?? 'host') : type
}

export interface RunnerProblem {
  /** Name of the module, or of the flow whose dependencies are checked in that runner. */
  readonly name: string
  readonly message: string
}

/** The modules that cannot use the runner that their files and the caller request. */
export const runnerProblems = (resolved: ResolvedWorkflow, asked: RunnerChoice): RunnerProblem[] => {
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

const usesDocker = (workflow: Workflow): boolean =>
  [...everyStep({ ...workflow, modules: [] })].some(({ step }) => step.step_runner === 'docker')

/**
 * The capabilities that a worker needs for this run: `docker` if commands run in containers, `tool:NAME` for each
 * declared program that must be on the worker itself. Sorted, without duplicates. `modules`: those that may run, default
 * all.
 */
export const requirements = (
  resolved: ResolvedWorkflow,
  { runner, modules = modulesOf(resolved) }: { runner?: RunnerType; modules?: readonly Workflow[] } = {},
): string[] => {
  const own = resolved.root.kind === 'flow' ? [resolved.root] : []
  const words = [...own, ...modules].flatMap((workflow) => {
    const where = runner ?? workflow.runner ?? 'host'
    const tools = where === 'host' ? (workflow.dependencies?.commands ?? []) : []
    const docker = where === 'docker' || usesDocker(workflow)
    return [...(docker ? ['docker'] : []), ...tools.map((name) => `tool:${name}`)]
  })
  return [...new Set(words)].sort()
}
