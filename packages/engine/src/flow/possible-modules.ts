import { uploadKeyOf, valueOr } from '@scanfarm/contracts'
import { FUNCTIONS, callWithoutRun, targetVariables } from '@scanfarm/functions'
import {
  BUILTIN_NAMES,
  SOMETIMES_NAMES,
  data,
  deciding,
  evaluateExpr,
  evaluateSimple,
  fromJson,
  isTruthy,
  prepareProgram,
  typedValue,
  writtenNames,
  type Json,
  type ModuleRef,
  type Param,
  type ResolvedWorkflow,
  type Simple,
  type SimpleScope,
  type Step,
  type Value,
  type Variables,
  type Workflow,
} from '@scanfarm/language'
import { namesIn } from '../step/evaluate.ts'
import { renderValue } from '../step/render.ts'
import { typeMismatch } from './dependencies.ts'
import { isExcluded } from './flow.ts'
import { workflowOf } from './modules-of.ts'
import { heuristicsOf } from './heuristics.ts'
import { callerParams, defaultValue, FACTS, hasDefault, isSet, isTarget } from './params.ts'

/** What is known about the runs of a job before they start. */
export interface KnownRun {
  readonly params: Readonly<Record<string, string>>
  /** Undefined: not known. Empty for a run without a target. */
  readonly targets?: readonly string[] | undefined
  /** Names of variables of the operator's settings. Their values are those of the worker. */
  readonly operatorVariables?: readonly string[]
}

/** More targets are not looked at one by one. */
const MAX_TARGETS = 200

class Undecided extends Error {
  override readonly name = 'Undecided'
}

/** Functions that depend only on their arguments. */
const isPure = (name: string): boolean =>
  FUNCTIONS.get(name)?.inTriggers === 'computes' && !/^(uuid|random|jq)/.test(name)

/** What a workflow may write into variables while it runs. */
interface Writes {
  readonly names: ReadonlySet<string>
  /** It calls functions whose names of variables are not in its text. */
  readonly any: boolean
}

const WRITERS = /\b(set_?var|render_?markdown_?report|generate_?security_?report)\b/gi
const NAMED = /\bset_?var\(\s*(?:\\?["'])(\w+)(?:\\?["'])\s*,/gi

const knownWrites = new WeakMap<object, Writes>()

/** `key`: the part of the resolved workflow that defines it. */
const writesOf = (key: Workflow | ModuleRef, workflow: Workflow): Writes => {
  const known = knownWrites.get(key)
  if (known !== undefined) return known
  const text = JSON.stringify(workflow)
  const named = [...text.matchAll(NAMED)].map(([, name = '']) => name)
  const writes = {
    names: writtenNames(workflow).union(new Set(named)),
    any: [...text.matchAll(WRITERS)].length > named.length,
  }
  knownWrites.set(key, writes)
  return writes
}

const UNKNOWN = Symbol('unknown')
/** A value, or undefined for a variable that does not exist. */
type Known = Value | undefined

/** Variables whose value is certain before the run. Reading any other one throws `Undecided`. */
class Certain implements Variables {
  readonly #values = new Map<string, Known | typeof UNKNOWN>()
  readonly #outer: Certain | undefined
  readonly #writes: readonly Writes[]

  constructor(writes: readonly Writes[], outer?: Certain) {
    this.#writes = writes
    this.#outer = outer
  }

  get(name: string): Known {
    if (this.#writes.some(({ names, any }) => any || names.has(name))) throw new Undecided()
    if (!this.#values.has(name) && this.#outer !== undefined) return this.#outer.get(name)
    const value = this.#values.has(name) ? this.#values.get(name) : UNKNOWN
    if (value === UNKNOWN) throw new Undecided()
    return value
  }

  /** Hides the outer variable of that name. */
  set(name: string, value: Known | typeof UNKNOWN): void {
    this.#values.set(name, value)
  }
}

const certain = <Result>(get: () => Result): Result | typeof UNKNOWN =>
  valueOr<Result | typeof UNKNOWN>(get, UNKNOWN)

/** Sets the variables of params. `argumentOf` throws where the value is not certain. */
const setParams = (params: readonly Param[], scope: Certain, argumentOf: (param: Param) => Known): void => {
  for (const param of params) {
    scope.set(
      param.name,
      certain(() => {
        const value = argumentOf(param)
        return value === undefined ? undefined : typedValue(param, value)
      }),
    )
  }
}

const SYSTEM: ReadonlySet<string> = new Set([...BUILTIN_NAMES, ...SOMETIMES_NAMES])

/** The value of a param that the caller does not give. */
const unsetParam = (param: Param, scope: Certain, operatorVariables: readonly string[]): Known => {
  const { name, type, generator = '', default: value = '' } = param
  if (generator !== '') throw new Undecided()
  if (hasDefault(param)) return defaultValue(value, scope)
  if (SYSTEM.has(name) || operatorVariables.includes(name)) throw new Undecided()
  return type === 'bool' ? false : undefined
}

/** The variables that a run has before its first module starts. */
const outermost = (
  resolved: ResolvedWorkflow,
  { params, operatorVariables = [] }: KnownRun,
  target: string | undefined,
  writes: readonly Writes[],
): Certain => {
  const system = new Certain(writes)
  if (target !== undefined && uploadKeyOf(target) === undefined) {
    const isShown = heuristicsOf({ params, workflow: resolved }) !== 'none'
    for (const [name, text] of Object.entries(isShown ? targetVariables(target) : {}))
      if (!operatorVariables.includes(name)) system.set(name, data(text))
    for (const name of ['Target', 'target']) system.set(name, data(target))
  }
  const caller = new Certain(writes, system)
  const args = new Map(callerParams(params, true).filter(([name]) => !FACTS.includes(name)))
  for (const [name, value] of args) if (/^\w+$/.test(name)) caller.set(name, value)
  const scope = new Certain(writes, caller)
  setParams(resolved.root.params ?? [], scope, (param) => {
    const value = args.get(param.name)
    if (isSet(value)) return value
    return isTarget(param.name) && target !== ''
      ? system.get('target')
      : unsetParam(param, scope, operatorVariables)
  })
  for (const name of ['FlowName', 'flow_name', 'ModuleName']) scope.set(name, UNKNOWN)
  return scope
}

/** The variables of a module of a flow. Only params that the flow gives are certain. */
const inModule = (
  { params = {} }: ModuleRef,
  workflow: Workflow,
  flow: Certain,
  writes: readonly Writes[],
) => {
  const scope = new Certain(writes, flow)
  for (const [name, text] of Object.entries(params))
    scope.set(
      name,
      certain(() => renderValue(text, flow)),
    )
  setParams(workflow.params ?? [], scope, ({ name }) => {
    const value = scope.get(name)
    if (!isSet(value)) throw new Undecided()
    return value
  })
  return scope
}

/** Whether an expression can have a value that passes the test. Anything that is not certain can. */
const canBe = async (expr: Simple, scope: SimpleScope, test: (value: Json) => boolean): Promise<boolean> => {
  if (expr.kind === 'and')
    return (
      (await canBe(expr.left, scope, (value) => Boolean(deciding(value)))) &&
      (await canBe(expr.right, scope, test))
    )
  if (expr.kind === 'or')
    return (await canBe(expr.left, scope, test)) || (await canBe(expr.right, scope, test))
  try {
    return test(await evaluateSimple(expr, scope))
  } catch {
    return true
  }
}

/** Makes the variables when the first condition needs them. Most workflows have no conditions. */
type Scope = () => Certain

const lazy = (make: Scope): Scope => {
  let made: Certain | undefined
  return () => (made ??= make())
}

/** Whether a condition may hold in the run; false only if it certainly does not. */
const canBeTrue = async (source: string | undefined, scopeOf: Scope): Promise<boolean> => {
  if (source === undefined || source.trim() === '') return true
  const variables = scopeOf()
  try {
    const { simple } = prepareProgram(source)
    if (simple === undefined) return true
    // As in `condition`: the text of a lone variable decides.
    if (simple.kind === 'hole') return isTruthy(evaluateExpr(simple.expr, variables))
    if (simple.kind === 'name') return isTruthy(variables.get(simple.name) ?? true)
    const scope: SimpleScope = {
      ...namesIn(variables),
      async call(name, args) {
        const definition = FUNCTIONS.get(name)
        if (definition === undefined || !isPure(definition.name)) throw new Undecided()
        return await callWithoutRun(definition, args, {})
      },
    }
    return await canBe(simple, scope, (value) => isTruthy(fromJson(value)))
  } catch {
    return true
  }
}

/** Modules and steps that may run. */
type Possible = Set<ModuleRef | Step>

const addSteps = async (found: Possible, { steps = [] }: Workflow, scope: Scope): Promise<void> => {
  for (const step of steps) if (await canBeTrue(step.pre_condition, scope)) found.add(step)
}

const isForTarget = (workflow: Workflow, target: string | undefined): boolean =>
  target === undefined ||
  uploadKeyOf(target) !== undefined ||
  typeMismatch(workflow.dependencies, target) === undefined

/** Adds the modules and steps that a run on this target may execute. */
const addPossible = async (
  found: Possible,
  resolved: ResolvedWorkflow,
  known: KnownRun,
  target: string | undefined,
): Promise<void> => {
  const { root } = resolved
  if (root.kind === 'module') {
    const scope = lazy(() => outermost(resolved, known, target, [writesOf(root, root)]))
    return await addSteps(found, root, scope)
  }
  let modules = placed(resolved).filter(
    ({ ref, workflow }) => !isExcluded(ref.name, known) && isForTarget(workflow, target),
  )
  // A module that does not run writes no variables, which may decide the conditions of others.
  for (;;) {
    const writes = [writesOf(root, root), ...modules.map(({ ref, workflow }) => writesOf(ref, workflow))]
    const scope = lazy(() => outermost(resolved, known, target, writes))
    const possible = await Promise.all(modules.map(async ({ ref }) => await canBeTrue(ref.condition, scope)))
    const left = modules.filter((_, index) => possible[index])
    if (left.length === modules.length) {
      for (const { ref, workflow } of modules) {
        found.add(ref)
        const own = lazy(() => inModule(ref, workflow, scope(), writes))
        await addSteps(found, workflow, own)
      }
      return
    }
    modules = left
  }
}

const placed = (resolved: ResolvedWorkflow): { ref: ModuleRef; workflow: Workflow }[] =>
  (resolved.root.modules ?? []).flatMap((ref) => {
    const workflow = workflowOf(resolved, ref)
    return workflow === undefined ? [] : [{ ref, workflow }]
  })

/**
 * The modules that runs of this workflow may execute, each with the steps that it may execute and the settings that it
 * inherits from the flow. Left out is only what certainly does not run: excluded modules, modules for targets of another
 * type, and modules and steps whose condition is false whatever happens in the run.
 */
export const possibleModules = async (resolved: ResolvedWorkflow, known: KnownRun): Promise<Workflow[]> => {
  const { targets = [] } = known
  const found: Possible = new Set()
  const isListed = targets.length > 0 && targets.length <= MAX_TARGETS
  for (const target of isListed ? targets : [undefined]) await addPossible(found, resolved, known, target)
  const withSteps = (workflow: Workflow): Workflow => ({
    ...workflow,
    steps: (workflow.steps ?? []).filter((step) => found.has(step)),
  })
  const { root } = resolved
  return root.kind === 'module'
    ? [withSteps(root)]
    : placed(resolved).flatMap(({ ref, workflow }) => (found.has(ref) ? [withSteps(workflow)] : []))
}
