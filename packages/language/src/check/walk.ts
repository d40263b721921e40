import type { Step, Workflow } from '../model.ts'

export type Path = readonly (string | number)[]

/** The owner of a step decides which rules apply to it. */
export interface StepPosition {
  readonly step: Step
  readonly path: Path
  /** The steps of the same list, including this one: the valid targets of `depends_on` and `goto`. */
  readonly siblings: readonly Step[]
  readonly position: 'module' | 'hook' | 'nested'
  /** Names that the enclosing loops define, including the step's own loop. */
  readonly loopNames: readonly string[]
}

const loopNamesOf = ({ variable }: Step, around: readonly string[]): readonly string[] =>
  variable === undefined ? around : [...around, variable, `_${variable}_`, '_id_']

const inside = function* (step: Step, path: Path, around: readonly string[]): Generator<StepPosition> {
  if (step.step !== undefined) {
    const at = [...path, 'step']
    const loopNames = loopNamesOf(step.step, around)
    yield { step: step.step, path: at, siblings: [step.step], position: 'nested', loopNames }
    yield* inside(step.step, at, loopNames)
  }
  const children = step.parallel_steps ?? []
  for (const [index, child] of children.entries()) {
    const at = [...path, 'parallel_steps', index]
    const loopNames = loopNamesOf(child, around)
    yield { step: child, path: at, siblings: children, position: 'nested', loopNames }
    yield* inside(child, at, loopNames)
  }
}

const list = function* (steps: readonly Step[] | undefined, path: Path, position: StepPosition['position']) {
  for (const [index, step] of (steps ?? []).entries()) {
    const at = [...path, index]
    const loopNames = loopNamesOf(step, [])
    yield { step, path: at, siblings: steps ?? [], position, loopNames } satisfies StepPosition
    yield* inside(step, at, loopNames)
  }
}

/** The result of `of` for a list of siblings, computed once per list. */
export const ofSiblings = <T>(of: (siblings: readonly Step[]) => T): ((at: StepPosition) => T) => {
  const made = new Map<readonly Step[], T>()
  return ({ siblings }) => {
    const known = made.get(siblings)
    if (known !== undefined) return known
    const value = of(siblings)
    made.set(siblings, value)
    return value
  }
}

/** Every step of a workflow with its position: its own, those of inline modules, hooks and overrides, and nested ones. */
export const everyStep = function* (workflow: Workflow): Generator<StepPosition> {
  yield* list(workflow.steps, ['steps'], 'module')
  for (const [index, ref] of (workflow.modules ?? []).entries()) {
    yield* list(ref.steps, ['modules', index, 'steps'], 'module')
  }
  yield* list(workflow.hooks?.pre_scan_steps, ['hooks', 'pre_scan_steps'], 'hook')
  yield* list(workflow.hooks?.post_scan_steps, ['hooks', 'post_scan_steps'], 'hook')
  yield* list(workflow.override?.steps?.steps, ['override', 'steps', 'steps'], 'nested')
  yield* list(workflow.override?.steps?.replace, ['override', 'steps', 'replace'], 'nested')
}
