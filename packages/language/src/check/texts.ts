import type { Workflow } from '../model.ts'
import type { FieldType, ObjectSpec, Use } from '../read/field.ts'
import { stepSpec } from '../read/step-spec.ts'
import { workflowSpec } from '../read/workflow-spec.ts'
import { everyStep, type Path, type StepPosition } from './walk.ts'

/** A text that is rendered, executed or evaluated, with its kind. */
export interface AuthorText {
  readonly path: Path
  readonly text: string
  readonly kind: Exclude<Use, 'argument' | 'apart'>
  /** Names that exist only here: variables of the enclosing loops. */
  readonly names: readonly string[]
}

const partsOf = (value: unknown): [string | number, unknown][] =>
  Array.isArray(value)
    ? [...value.entries()]
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
      : []

const textsOf = function* (
  value: unknown,
  path: Path,
  use: Use,
  names: readonly string[],
): Generator<AuthorText> {
  if (use === 'apart') return
  if (typeof value !== 'string') {
    for (const [key, item] of partsOf(value)) yield* textsOf(item, [...path, key], use, names)
  } else if (use === 'argument') {
    // It follows a command, so that it begins as an argument.
    yield { path, text: `x ${value}`, kind: 'shell', names }
  } else yield { path, text: value, kind: use, names }
}

const textsInside = function* (
  type: FieldType,
  value: unknown,
  path: Path,
  names: readonly string[],
): Generator<AuthorText> {
  if (type.kind === 'object') yield* textsOfObject(type.spec(), value, path, names)
  else if (type.kind === 'list' || type.kind === 'map')
    for (const [key, item] of partsOf(value)) yield* textsInside(type.of, item, [...path, key], names)
}

/** The texts of an object and of the objects in it, as their field tables say. */
const textsOfObject = function* (
  { fields }: ObjectSpec,
  value: unknown,
  path: Path,
  names: readonly string[],
): Generator<AuthorText> {
  for (const [key, item] of partsOf(value)) {
    const field = fields[key]
    if (field === undefined) continue
    const { type, use, names: own = [] } = field
    if (use === undefined) yield* textsInside(type, item, [...path, key], names)
    else yield* textsOf(item, [...path, key], use, [...names, ...own])
  }
}

/** In a loop, `[[ x ]]` is a template too. */
const loopSyntax = (text: string, names: readonly string[]): string =>
  names.length === 0
    ? text
    : text.replaceAll(/\[\[\s*(\w+)\s*\]\]/g, (whole, name: string) =>
        names.includes(name) ? `{{${name}}}` : whole,
      )

const stepTexts = function* ({ step, path, loopNames: names }: StepPosition): Generator<AuthorText> {
  const inner = names.filter((name) => name !== step.variable || path.includes('step'))
  yield* textsOfObject(stepSpec, step, path, inner)
  yield* textsOf(
    step.variable_pre_process?.replaceAll(/\[\[\s*\w+\s*\]\]/g, 'x'),
    [...path, 'variable_pre_process'],
    'expression',
    [...names, 'x'],
  )
}

/** All texts of a workflow that are rendered, executed or evaluated. */
export const authorTexts = function* (workflow: Workflow): Generator<AuthorText> {
  for (const place of everyStep(workflow)) {
    for (const text of stepTexts(place)) yield { ...text, text: loopSyntax(text.text, text.names) }
  }
  yield* textsOfObject(workflowSpec, workflow, [], [])
}
