import type { ModuleRef, ResolvedWorkflow, Workflow } from '@scanfarm/language'
import { onceFor } from '../once-for.ts'
import { runnerInFlow } from '../runner/runner-spec.ts'

/** All texts of the workflow, as JSON. */
export const textsOf = onceFor(({ root, modules }: ResolvedWorkflow): string =>
  JSON.stringify([root, Object.values(modules)]),
)

/** The module of a reference, inline or from its file, with the runner that applies to it in the flow. */
export const workflowOf = (
  { root, modules }: Pick<ResolvedWorkflow, 'root' | 'modules'>,
  ref: ModuleRef,
): Workflow | undefined => {
  const withSafePath: Workflow = { kind: 'module', name: ref.name, steps: ref.steps ?? [] }
  const module = (ref.steps ?? []).length > 0 ? withSafePath : modules[ref.name]
  return module && { ...module, ...runnerInFlow(runnerInFlow(ref, module), root) }
}

/** Whether the workflow or one of its modules has hooks. */
export const hasHooks = ({ root, modules }: ResolvedWorkflow): boolean =>
  [root, ...Object.values(modules)].some(
    ({ hooks = {} }) => [...(hooks.pre_scan_steps ?? []), ...(hooks.post_scan_steps ?? [])].length > 0,
  )
