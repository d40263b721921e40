import type { ModuleRef, Step, Workflow } from '../model.ts'
import type { Locate } from '../read/document.ts'

type Path = readonly (string | number)[]

/** Line numbers, from 1, by the key of a part: `steps/NAME`, `modules/NAME`, `modules/NAME/steps/NAME`, `params/NAME`. */
export type PartLines = Readonly<Record<string, number>>

interface Named {
  readonly name?: string
}

/** The keys of named parts in a list; a name that repeats gets `#2` and so on. */
export const keysOf = (parent: string, items: readonly Named[]): string[] => {
  const counts = new Map<string, number>()
  return items.map(({ name = '' }) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return `${parent}/${name}${count === 1 ? '' : `#${count}`}`
  })
}

/** The lists of steps inside a step. */
export const nestedSteps = ({ step, parallel_steps }: Step): readonly Step[] =>
  step === undefined ? (parallel_steps ?? []) : [step]

const part = function* (step: Step, key: string, path: Path): Generator<[string, Path]> {
  yield [key, path]
  if (step.step === undefined) yield* steps(step.parallel_steps, key, [...path, 'parallel_steps'])
  else yield* part(step.step, `${key}/${step.step.name}`, [...path, 'step'])
}

const steps = function* (
  list: readonly Step[] | undefined,
  parent: string,
  path: Path,
): Generator<[string, Path]> {
  const keys = keysOf(parent, list ?? [])
  for (const [index, step] of (list ?? []).entries()) yield* part(step, keys[index] ?? '', [...path, index])
}

const modules = function* (list: readonly ModuleRef[] | undefined, path: Path): Generator<[string, Path]> {
  const keys = keysOf('modules', list ?? [])
  for (const [index, ref] of (list ?? []).entries()) {
    const key = keys[index] ?? ''
    yield [key, [...path, index]]
    yield* steps(ref.steps, `${key}/steps`, [...path, index, 'steps'])
  }
}

const everyPart = function* (workflow: Workflow): Generator<[string, Path]> {
  const params = keysOf('params', workflow.params ?? [])
  for (const [index, key] of params.entries()) yield [key, ['params', index]]
  yield* modules(workflow.modules, ['modules'])
  yield* steps(workflow.steps, 'steps', ['steps'])
  yield* steps(workflow.hooks?.pre_scan_steps, 'hooks/pre', ['hooks', 'pre_scan_steps'])
  yield* steps(workflow.hooks?.post_scan_steps, 'hooks/post', ['hooks', 'post_scan_steps'])
  const { override = {} } = workflow
  for (const name of Object.keys(override.params ?? {}))
    yield [`params/${name}`, ['override', 'params', name]]
  for (const field of ['steps', 'replace'] as const)
    yield* steps(override.steps?.[field], 'steps', ['override', 'steps', field])
  for (const field of ['modules', 'replace'] as const)
    yield* modules(override.modules?.[field], ['override', 'modules', field])
}

/** Where each part of a file begins. */
export const linesOf = (workflow: Workflow, locate: Locate): PartLines => {
  const lines: Record<string, number> = Object.create(null) as Record<string, number>
  for (const [key, path] of everyPart(workflow)) lines[key] ??= locate(path).line
  return { ...lines }
}
