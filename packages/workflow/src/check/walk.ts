import type { Step, Workflow } from '../model.ts'

export type Path = readonly (string | number)[]

/** What a step belongs to decides which rules it has to keep. */
export interface StepPlace {
  readonly step: Step
  readonly path: Path
  /** Steps beside this one, itself included: those that `depends_on` and `goto` may name. */
  readonly siblings: readonly Step[]
  readonly position: 'module' | 'hook' | 'nested'
}

const inside = function* (step: Step, path: Path): Generator<StepPlace> {
  if (step.step !== undefined) {
    const at = [...path, 'step']
    yield { step: step.step, path: at, siblings: [step.step], position: 'nested' }
    yield* inside(step.step, at)
  }
  const children = step.parallel_steps ?? []
  for (const [index, child] of children.entries()) {
    const at = [...path, 'parallel_steps', index]
    yield { step: child, path: at, siblings: children, position: 'nested' }
    yield* inside(child, at)
  }
}

const list = function* (steps: readonly Step[] | undefined, path: Path, position: StepPlace['position']) {
  for (const [index, step] of (steps ?? []).entries()) {
    const at = [...path, index]
    yield { step, path: at, siblings: steps ?? [], position } satisfies StepPlace
    yield* inside(step, at)
  }
}

/** Every step of a workflow with its place: own, in modules written in place, hooks, overrides, nested ones. */
export const everyStep = function* (workflow: Workflow): Generator<StepPlace> {
  yield* list(workflow.steps, ['steps'], 'module')
  for (const [index, ref] of (workflow.modules ?? []).entries()) {
    yield* list(ref.steps, ['modules', index, 'steps'], 'module')
  }
  yield* list(workflow.hooks?.pre_scan_steps, ['hooks', 'pre_scan_steps'], 'hook')
  yield* list(workflow.hooks?.post_scan_steps, ['hooks', 'post_scan_steps'], 'hook')
  yield* list(workflow.override?.steps?.steps, ['override', 'steps', 'steps'], 'nested')
  yield* list(workflow.override?.steps?.replace, ['override', 'steps', 'replace'], 'nested')
}
