import type { FieldError } from '@scanfarm/contracts'
import { paramProblem, paramsProblems } from '@scanfarm/contracts'
import { BUILTIN_NAMES } from '../check/names.ts'
import type { ResolvedWorkflow } from '../library/resolve.ts'
import type { Json, Param } from '../model.ts'
import { valueProblem } from '../params/check-value.ts'
import { ParamValueError, typedValue } from '../params/typed-value.ts'
import { fromJson, textOf, toPlain, type Value } from '../template/value.ts'
import { execOn } from './function-context.ts'
import { generate } from './generators.ts'
import { heuristicsProblem } from './heuristics.ts'
import { renderValue } from './render.ts'
import type { Run } from './run.ts'
import type { Scope } from './scope.ts'

const hasDefault = (param: Param): boolean =>
  param.default !== undefined && param.default !== null && param.default !== ''

const defaultValue = (run: Run, value: Json, scope: Scope): Value =>
  typeof value === 'string' ? renderValue(run.engine, value, scope) : fromJson(value, 'author')

/** The names under which workflows know the target. A run has one whoever declares it, so no default replaces it. */
const isTarget = (name: string): boolean => name === 'target' || name === 'Target'

const isSet = (value: Value | undefined): value is Value => value !== undefined && toPlain(value) !== ''

/**
 * Sets the variables of a workflow's params in the order of their declaration: a value given, else the generator,
 * else the default, which may use everything before it, else what the system has under that name. Answers what is
 * missing or does not fit, or `""`.
 */
export const setParams = async (
  run: Run,
  params: readonly Param[],
  scope: Scope,
  given: (name: string) => Value | undefined,
): Promise<string> => {
  const around = {
    ports: run.ports,
    env: run.input.env,
    exec: async (command: string) => await execHere(run, command),
  }
  for (const param of params) {
    const value = given(param.name)
    const known = scope.get(param.name)
    const set = (found: Value): void => scope.set(param.name, typedValue(param, found))
    try {
      if (isSet(value)) set(value)
      else if (isTarget(param.name) && isSet(known)) set(known)
      else if (param.generator !== undefined && param.generator !== '') {
        const made = run.input.dryRun === true ? param.generator : await generate(param.generator, around)
        set(textOf(made, 'data'))
      } else if (hasDefault(param)) set(defaultValue(run, param.default ?? '', scope))
      else if (isSet(known)) set(known)
      else if (param.required === true) return `required parameter missing: ${param.name}`
      else if (param.type === 'bool') scope.set(param.name, false)
    } catch (error) {
      if (!(error instanceof ParamValueError)) throw error
      return error.message
    }
  }
  return ''
}

const execHere = async (run: Run, command: string): Promise<string> => {
  const runner = await run.runner({ type: 'host' })
  const { stdout } = await execOn(run, runner, ['/bin/sh', '-c', command], {
    timeoutMs: GENERATOR_TIMEOUT_MS,
    signal: run.signal,
  })
  return stdout.trim()
}

/** A generator makes a value; it is no place for work. */
const GENERATOR_TIMEOUT_MS = 60_000

/** A caller's params. Those of no type may become several words in safe places, unless `strict`. */
export const callerParams = (params: Readonly<Record<string, string>>, strict: boolean): [string, Value][] =>
  Object.entries(params).map(([name, text]) => [name, textOf(text, strict ? 'caller' : 'param')])

/** Every declaration that a caller's param meets: that of the workflow, and those of the modules it reaches. */
const declarations = ({ root, modules }: ResolvedWorkflow): Param[] => [
  ...(root.params ?? []),
  ...(root.modules ?? []).flatMap((ref) =>
    ((ref.steps ?? []).length > 0 ? [] : (modules[ref.name]?.params ?? [])).filter(
      ({ name }) => !Object.hasOwn(ref.params ?? {}, name),
    ),
  ),
]

const BUILTINS: ReadonlySet<string> = new Set(BUILTIN_NAMES)

/** Names that the system fills, which only the run itself knows the values of. */
const ofSystem = (name: string): boolean => BUILTINS.has(name) || /^(Target[A-Z]\w*|Org)$/.test(name)

/** Everything that is wrong with a caller's params, before anything is created. Paths are `/params/<name>`. */
export const checkParams = (
  resolved: ResolvedWorkflow,
  params: Readonly<Record<string, string>>,
): FieldError[] => {
  const beyondBounds = paramsProblems(params)
  if (beyondBounds.length > 0) return beyondBounds
  const missing = (resolved.root.params ?? [])
    .filter((param) => param.required === true && !hasDefault(param) && (param.generator ?? '') === '')
    .filter(({ name }) => (params[name] ?? '') === '' && !ofSystem(name))
    .map(({ name }) => ({ path: `/params/${name}`, message: `required parameter missing: ${name}` }))
  const declared = declarations(resolved)
  const bad = Object.entries(params).flatMap(([name, value]) => {
    const problem =
      paramProblem(value) ??
      (name === 'heuristics_check' && value !== '' ? heuristicsProblem(value) : undefined) ??
      declared
        .filter((param) => param.name === name && value !== '')
        .map((param) => valueProblem(param, value))
        .find((found) => found !== undefined)
    return problem === undefined ? [] : [{ path: `/params/${name}`, message: problem }]
  })
  return [...missing, ...bad]
}
