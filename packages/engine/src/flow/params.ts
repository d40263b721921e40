import { didYouMean, type FieldError, paramProblem, paramsProblems } from '@scanfarm/contracts'
import type { ResolvedWorkflow, Json, Param, Value, Variables } from '@scanfarm/language'
import {
  BUILTIN_NAMES,
  SOMETIMES_NAMES,
  valueProblem,
  ParamValueError,
  typedValue,
  fromJson,
  textOf,
  toPlain,
} from '@scanfarm/language'
import { onceFor } from '../once-for.ts'
import { execOn } from '../step/function-context.ts'
import { generate } from './generators.ts'
import { heuristicsProblem } from './heuristics.ts'
import { textsOf } from './modules-of.ts'
import { renderValue } from '../step/render.ts'
import type { Run } from './run.ts'
import { rememberedIn } from './resume.ts'
import type { Scope } from './scope.ts'

/** Variables that callers cannot set. */
export const FACTS: readonly string[] = [
  'Target',
  'target',
  'Output',
  'RunUUID',
  'DBRunID',
  'Rate',
  'TempDir',
]

export const hasDefault = (param: Param): boolean =>
  param.default !== undefined && param.default !== null && param.default !== ''

/** A number is a text, like the same number that a caller gives. */
export const defaultValue = (value: Json, scope: Variables): Value => {
  if (typeof value === 'string') return renderValue(value, scope)
  return fromJson(typeof value === 'number' ? String(value) : value, 'author')
}

/** The variables that hold the target. They are always set, so that defaults never replace them. */
export const isTarget = (name: string): boolean => name === 'target' || name === 'Target'

export const isSet = (value: Value | undefined): value is Value =>
  value !== undefined && toPlain(value) !== ''

/**
 * Sets the variables of a workflow's params in the order of their declaration, each from the first source that exists:
 * a given value, the generator, the default (which may use earlier params), a variable of the system with that name.
 * Returns an error message for a missing or invalid param, or `""`.
 */
export const setParams = async (
  run: Run,
  params: readonly Param[],
  scope: Scope,
  argumentOf: (name: string) => Value | undefined,
  /** Name of the module in the flow, or `""`. */
  place = '',
): Promise<string> => {
  const around = {
    ports: run.ports,
    env: run.input.env,
    exec: async (command: string) => await execHere(run, command),
  }
  for (const param of params) {
    const value = argumentOf(param.name)
    const set = (found: Value): void => scope.set(param.name, typedValue(param, found))
    const setKnown = (): boolean => {
      const known = scope.get(param.name)
      if (isSet(known)) set(known)
      return isSet(known)
    }
    try {
      if (isSet(value)) set(value)
      else if (isTarget(param.name) && setKnown()) continue
      else if (param.generator !== undefined && param.generator !== '') {
        const source = param.generator
        const made =
          run.input.dryRun === true
            ? source
            : await rememberedIn(run, `param ${place}.${param.name}`, () => generate(source, around))
        set(textOf(made, 'data'))
      } else if (hasDefault(param)) set(defaultValue(param.default ?? '', scope))
      else if (setKnown()) continue
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
  await run.openDirectory()
  const runner = await run.runner({ type: 'host' })
  const { stdout } = await execOn(run, runner, ['/bin/sh', '-c', command], {
    timeoutMs: GENERATOR_TIMEOUT_MS,
    signal: run.signal,
  })
  return stdout.trim()
}

/** Generators are meant for short computations. */
const GENERATOR_TIMEOUT_MS = 60_000

/** The params of a caller. Untyped params may be split into several words where that is safe, unless `strict`. */
export const callerParams = (params: Readonly<Record<string, string>>, strict: boolean): [string, Value][] =>
  Object.entries(params).map(([name, text]) => [name, textOf(text, strict ? 'caller' : 'param')])

/** All declarations that apply to a param of the caller: those of the workflow and of its modules. */
const declarations = ({ root, modules }: ResolvedWorkflow): Param[] => [
  ...(root.params ?? []),
  ...(root.modules ?? []).flatMap((ref) =>
    ((ref.steps ?? []).length > 0 ? [] : (modules[ref.name]?.params ?? [])).filter(
      ({ name }) => !Object.hasOwn(ref.params ?? {}, name),
    ),
  ),
]

const BUILTINS: ReadonlySet<string> = new Set(BUILTIN_NAMES)

/** Variables of the system, whose values are known only during the run. */
const ofSystem = (name: string): boolean => BUILTINS.has(name) || /^(Target[A-Z]\w*|Org)$/.test(name)

/** Params that clients of other systems send with every run, or that are read without a variable. */
const SILENT = /^(_.*|org_uuid|workspaces_folder|chunk_\w+|total_chunks)$/

/** All words of the texts of the workflow. */
const wordsOf = onceFor(
  (resolved: ResolvedWorkflow): ReadonlySet<string> => new Set(textsOf(resolved).match(/\w+/g)),
)

/** Names of params that the workflow neither declares nor mentions. */
const strangeParams = (resolved: ResolvedWorkflow, params: Readonly<Record<string, string>>): string[] => {
  return Object.keys(params).filter(
    (name) =>
      !ofSystem(name) &&
      !SILENT.test(name) &&
      !SOMETIMES_NAMES.includes(name) &&
      !(/^\w+$/.test(name) ? wordsOf(resolved).has(name) : textsOf(resolved).includes(name)),
  )
}

const nearParam = (resolved: ResolvedWorkflow, name: string): string =>
  didYouMean(
    name,
    [resolved.root, ...Object.values(resolved.modules)].flatMap(({ params = [] }) =>
      params.map((param) => param.name),
    ),
  )

/** Params without an effect that are accepted: no declared name is near. */
export const paramWarnings = (
  resolved: ResolvedWorkflow,
  params: Readonly<Record<string, string>>,
): { field: string; message: string }[] =>
  strangeParams(resolved, params)
    .filter((name) => nearParam(resolved, name) === '')
    .map((name) => ({
      field: `params.${name}`,
      message: `has no effect: the workflow ${resolved.root.name} does not use a param of that name`,
    }))

/** Lists all problems of a caller's params before anything is created. Paths are `/params/<name>`. */
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
  const misspelt = strangeParams(resolved, params).flatMap((name) => {
    const near = nearParam(resolved, name)
    const message = `the workflow ${resolved.root.name} has no param ${name}. ${near}`
    return near === '' ? [] : [{ path: `/params/${name}`, message }]
  })
  return [...missing, ...misspelt, ...bad]
}
