import type { Step, Workflow } from '../model.ts'

export type Path = readonly (string | number)[]

/** What a step belongs to decides which rules it has to keep. */
export interface StepPlace {
  readonly step: Step
  readonly path: Path
  /** Steps beside this one, itself included: those that `depends_on` and `goto` may name. */
  readonly siblings: readonly Step[]
  readonly position: 'module' | 'hook' | 'nested'
  /** Names that the loops around the step define; its own loop is one of them. */
  readonly loopNames: readonly string[]
}

const loopNamesOf = ({ variable }: Step, around: readonly string[]): readonly string[] =>
  variable === undefined ? around : [...around, variable, `_${variable}_`, '_id_']

const inside = function* (step: Step, path: Path, around: readonly string[]): Generator<StepPlace> {
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

const list = function* (steps: readonly Step[] | undefined, path: Path, position: StepPlace['position']) {
  for (const [index, step] of (steps ?? []).entries()) {
    const at = [...path, index]
    const loopNames = loopNamesOf(step, [])
    yield { step, path: at, siblings: steps ?? [], position, loopNames } satisfies StepPlace
    yield* inside(step, at, loopNames)
  }
}

/** What `of` makes of a list of siblings, made once for each list. */
export const ofSiblings = <T>(of: (siblings: readonly Step[]) => T): ((place: StepPlace) => T) => {
  const made = new Map<readonly Step[], T>()
  return ({ siblings }) => {
    const known = made.get(siblings)
    if (known !== undefined) return known
    const value = of(siblings)
    made.set(siblings, value)
    return value
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
