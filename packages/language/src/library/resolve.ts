import { createHash } from 'node:crypto'
import { basename } from 'node:path/posix'
import { stringify } from 'yaml'
import { type WorkflowKind, didYouMean } from '@scanfarm/contracts'
import { checkStructure } from '../check/structure.ts'
import type { ModuleRef, Workflow } from '../model.ts'
import { hasErrors, placeOf, WorkflowError, type Problem } from '../problem.ts'
import { READ_LIMITS, RESOLVE_LIMITS } from '../limits.ts'
import { ProblemList } from '../problem-list.ts'
import { inherit } from './inherit.ts'
import type { WorkflowEntry, WorkflowLibrary } from './entry.ts'

/** A workflow with everything that it refers to, as plain JSON. A worker needs no other files to run it. */
export interface ResolvedWorkflow {
  readonly format: 1
  readonly root: Workflow
  /** Modules of a flow that are separate files, by the name of the reference. */
  readonly modules: Readonly<Record<string, Workflow>>
}

const first = (problems: readonly Problem[]): string => {
  const problem = problems.find(({ severity }) => severity === 'error')
  return problem === undefined ? 'it has problems' : `${placeOf(problem)}: ${problem.message}`
}

const broken = (entry: WorkflowEntry, problems = entry.problems): WorkflowError =>
  new WorkflowError('invalid', `workflow '${entry.name}' cannot be used: ${first(problems)}`, problems)

const problemAt = (
  entry: WorkflowEntry,
  reference: string,
  rule: string,
  message: string,
  hint = '',
): Problem => ({
  file: entry.path,
  ...(entry.references[reference] ?? { line: 0, column: 0 }),
  rule,
  severity: 'error',
  message,
  hint,
})

/** Problems of a referenced workflow are reported at the position of the reference. */
const reached = <Found>(
  entry: WorkflowEntry,
  { reference, rule, what }: { reference: string; rule: string; what: string },
  find: () => Found,
): Found => {
  try {
    return find()
  } catch (error) {
    if (!(error instanceof WorkflowError)) throw error
    const { problems } = error
    const cause = problems.findLast(({ severity }) => severity === 'error')
    const message = cause === undefined ? error.message : `${placeOf(cause)}: ${cause.message}`
    throw broken(entry, [problemAt(entry, reference, rule, `${what}: ${message}`), ...problems])
  }
}

/** The workflow merged with its parents. */
const flatten = (
  library: WorkflowLibrary,
  entry: WorkflowEntry,
  children: readonly WorkflowEntry[] = [],
): Workflow => {
  if (entry.workflow === undefined) throw broken(entry)
  const parentName = entry.workflow.extends
  if (parentName === undefined) return entry.workflow
  const refused = (rule: string, message: string, hint?: string): WorkflowError =>
    broken(entry, [problemAt(entry, 'extends', rule, message, hint)])
  const chain = [...children, entry]
  if (chain.length > RESOLVE_LIMITS.parents) {
    const message = `the chain of parents is longer than ${RESOLVE_LIMITS.parents}`
    throw refused('too-big', message, 'Extend a workflow that is nearer to the top.')
  }
  const parent = library.find(parentName, entry.kind, entry)
  if (parent === undefined) {
    const known = library.list().map(({ name }) => name)
    const message = `the parent '${parentName}' does not exist`
    throw refused('unknown-workflow', message, didYouMean(parentName, known))
  }
  if (chain.includes(parent))
    throw refused('circular-inheritance', `circular inheritance detected: ${parentName}`)
  if (parent.kind !== entry.kind) {
    const message = `a ${entry.kind} cannot extend '${parentName}', which is a ${parent.kind}`
    throw refused('kind-mismatch', message)
  }
  const at = { reference: 'extends', rule: 'broken-parent', what: `the parent '${parentName}'` }
  return inherit(
    reached(entry, at, () => flatten(library, parent, chain)),
    entry.workflow,
  )
}

const checked = (library: WorkflowLibrary, entry: WorkflowEntry): Workflow => {
  const workflow = flatten(library, entry)
  if (entry.workflow?.extends === undefined) return workflow
  const list = new ProblemList(READ_LIMITS.problems)
  checkStructure(workflow, (_path, rule, severity, message, hint = '') => {
    list.add(severity, hint, () => problemAt(entry, 'extends', rule, message))
  })
  const problems = [...list.problems, ...list.rest(entry.path)]
  if (hasErrors(problems)) throw broken(entry, problems)
  return workflow
}

interface Resolved {
  readonly workflow: Workflow
  readonly chars: number
}

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Maximum number of suggestions for unknown names of one flow: each suggestion compares all known names. */
const MAX_HINTS = 20

const moduleOf = (
  library: WorkflowLibrary,
  entry: WorkflowEntry,
  { name }: ModuleRef,
  found: WorkflowEntry,
  isMeasured: boolean,
): Resolved | { readonly problems: readonly Problem[] } => {
  const at = { reference: `modules.${name}`, rule: 'broken-module', what: `module '${name}'` }
  try {
    const workflow = reached(entry, at, () => checked(library, found))
    return { workflow, chars: isMeasured ? JSON.stringify(workflow).length : 0 }
  } catch (error) {
    if (error instanceof WorkflowError) return { problems: error.problems }
    throw error
  }
}

/** The file of a module; undefined if it does not exist or the module has no file. */
export const referencedModule = (
  library: WorkflowLibrary,
  entry: WorkflowEntry,
  { path, steps = [] }: ModuleRef,
): WorkflowEntry | undefined => {
  if (path === undefined || steps.length > 0) return undefined
  // Uploaded files are not stored at the path that their author used; the file name is enough then.
  const name = basename(path).replace(/\.ya?ml$/i, '')
  return library.find(path, 'module', entry) ?? library.find(name, 'module', entry)
}

const modulesOf = (
  library: WorkflowLibrary,
  entry: WorkflowEntry,
  flow: Workflow,
  isMeasured = true,
): Record<string, Workflow> => {
  const modules: Record<string, Workflow> = {}
  const problems: Problem[] = []
  const known = once(() => library.list().map(({ name }) => name))
  const resolved = new Map<WorkflowEntry, Resolved>()
  let hints = 0
  let chars = 0
  for (const ref of flow.modules ?? []) {
    if (ref.path === undefined || (ref.steps ?? []).length > 0) continue
    const at = `modules.${ref.name}`
    const found = referencedModule(library, entry, ref)
    if (found === undefined) {
      const message = `module '${ref.name}' refers to '${ref.path}', which does not exist`
      const hint = hints++ < MAX_HINTS ? didYouMean(ref.path, known()) : ''
      problems.push(problemAt(entry, at, 'unknown-workflow', message, hint))
    } else if (found.kind !== 'module') {
      problems.push(
        problemAt(entry, at, 'kind-mismatch', `'${ref.path}' is a flow; flows consist of modules`),
      )
    } else if (found.workflow === undefined) {
      problems.push(
        problemAt(entry, at, 'broken-module', `module '${ref.name}': ${first(found.problems)}`),
        ...found.problems,
      )
    } else {
      const one = resolved.get(found) ?? moduleOf(library, entry, ref, found, isMeasured)
      if ('problems' in one) {
        problems.push(...one.problems)
        continue
      }
      resolved.set(found, one)
      chars += one.chars
      if (chars > RESOLVE_LIMITS.chars) {
        const message = `the flow and its modules are larger than ${RESOLVE_LIMITS.chars} characters together`
        throw broken(entry, [problemAt(entry, at, 'too-big', message, 'Split the flow.')])
      }
      modules[ref.name] = one.workflow
    }
  }
  if (hasErrors(problems)) throw broken(entry, problems)
  return modules
}

/** If modules have the same name, only the last one is part of the flow. */
const withoutEarlier = (flow: Workflow): Workflow => {
  const refs = flow.modules ?? []
  const last = new Map(refs.map((ref) => [ref.name, ref]))
  return last.size === refs.length
    ? flow
    : { ...flow, modules: refs.filter((ref) => last.get(ref.name) === ref) }
}

/** Problems that keep a valid entry from being started; empty if there are none. */
const brokenReferences = (library: WorkflowLibrary, entry: WorkflowEntry): readonly Problem[] => {
  if (entry.workflow === undefined) return []
  if (entry.kind === 'module' && entry.workflow.extends === undefined) return []
  try {
    const root = checked(library, entry)
    if (root.kind === 'flow') modulesOf(library, entry, root, false)
    return []
  } catch (error) {
    if (error instanceof WorkflowError) return error.problems
    throw error
  }
}

/** Entries that lists show as invalid because of their references, with the entries as they were read. */
const asRead = new WeakMap<WorkflowEntry, WorkflowEntry>()

/** The entry as lists show it: invalid if a workflow that it refers to is missing or invalid. */
export const judged = (library: WorkflowLibrary, entry: WorkflowEntry): WorkflowEntry => {
  const problems = brokenReferences(library, entry)
  if (problems.length === 0) return entry
  const shown = { ...entry, workflow: undefined, problems: [...entry.problems, ...problems] }
  asRead.set(shown, entry)
  return shown
}

/** Cache of resolved workflows, by library and its generation. */
const kept = new WeakMap<WorkflowLibrary, { generation: number; byKey: Map<string, ResolvedWorkflow> }>()

const keptFor = (library: WorkflowLibrary): Map<string, ResolvedWorkflow> => {
  const known = kept.get(library)
  if (known?.generation === library.generation) return known.byKey
  const byKey = new Map<string, ResolvedWorkflow>()
  kept.set(library, { generation: library.generation, byKey })
  return byKey
}

/**
 * Resolves a workflow with everything that a run of it needs. Throws `WorkflowError` if there is no
 * workflow of that name and kind, or if the workflow, a parent or a module is invalid.
 */
export const resolveWorkflow = (
  library: WorkflowLibrary,
  { name, kind }: { name: string; kind?: WorkflowKind },
): ResolvedWorkflow => {
  const cache = keptFor(library)
  const key = `${kind ?? ''}\n${name}`
  const hit = cache.get(key)
  if (hit !== undefined) return hit
  const shown = library.find(name, kind)
  if (shown === undefined) {
    const known = library.list().filter((other) => kind === undefined || other.kind === kind)
    const hint = didYouMean(
      name,
      known.map((other) => other.name),
    )
    throw new WorkflowError('not-found', `There is no ${kind ?? 'workflow'} named "${name}". ${hint}`.trim())
  }
  const entry = asRead.get(shown) ?? shown
  if (kind !== undefined && entry.kind !== kind) {
    throw new WorkflowError('other-kind', `"${name}" is a ${entry.kind}, not a ${kind}.`)
  }
  const root = withoutEarlier(checked(library, entry))
  const resolved: ResolvedWorkflow = {
    format: 1,
    root,
    modules: root.kind === 'flow' ? modulesOf(library, entry, root) : {},
  }
  cache.set(key, resolved)
  return resolved
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  )
}

/** Canonical JSON: equal workflows give equal texts. */
export const stringifyResolved = (resolved: ResolvedWorkflow): string => JSON.stringify(sorted(resolved))

/** A resolved workflow as YAML. */
export const workflowText = (workflow: Workflow): string => stringify(workflow)

/** Hex SHA-256 of the canonical text. */
export const hashResolved = (resolved: ResolvedWorkflow): string =>
  createHash('sha256').update(stringifyResolved(resolved)).digest('hex')

const isResolved = (value: unknown): value is ResolvedWorkflow =>
  typeof value === 'object' &&
  value !== null &&
  'format' in value &&
  value.format === 1 &&
  'root' in value &&
  typeof value.root === 'object' &&
  'modules' in value &&
  typeof value.modules === 'object'

/** The reverse of `stringifyResolved`; throws `WorkflowError` for anything else. */
export const parseResolved = (text: string): ResolvedWorkflow => {
  const value: unknown = JSON.parse(text)
  if (isResolved(value)) return value
  throw new WorkflowError('invalid', 'This is not a resolved workflow of a format that this version knows.')
}
