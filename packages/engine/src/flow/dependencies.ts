import type { LocalTarget } from '@scanfarm/functions'
import { asking, isThere, runPath, domainParts, isCidr, targetType } from '@scanfarm/functions'
import type { TARGET_TYPES, TEXT_TARGET_TYPES, ResolvedWorkflow, Dependencies } from '@scanfarm/language'
import { toPlain } from '@scanfarm/language'
import { condition } from '../step/condition.ts'
import type { Engine } from '../engine.ts'
import { unusablePrograms } from '../runner/programs.ts'
import { environmentOf } from '../runner/command.ts'
import type { StepContext } from '../step/step-context.ts'
import type { Run } from './run.ts'
import { renderPlain } from '../step/render.ts'
import { isIP } from 'node:net'

/** Time for which a successful check is shared by the runs of a worker. Each check starts a process. */
const CHECK_VALID_MS = 5_000
const MAX_CHECKS = 1_000

const lastChecks = new WeakMap<Engine, Map<string, number>>()

/** Time of the last successful check by cache key, shared by all runs of an engine. */
const checksOf = (engine: Engine): Map<string, number> => {
  const found = lastChecks.get(engine) ?? new Map<string, number>()
  if (found.size >= MAX_CHECKS) found.clear()
  lastChecks.set(engine, found)
  return found
}

const wasCheckedRecently = (engine: Engine, key: string): boolean =>
  performance.now() - (checksOf(engine).get(key) ?? -Infinity) < CHECK_VALID_MS

/**
 * Cache key of a check; undefined if the result depends on the folder of the run. The user of the run is not part of
 * the key, because all users of a worker have the same rights outside of their workspaces.
 */
const checkKey = (commands: readonly string[], path: string | undefined): string | undefined => {
  const isFixed = path?.split(':').every((folder) => folder.startsWith('/')) ?? false
  return isFixed && !commands.some((name) => name.includes('/'))
    ? JSON.stringify([path, ...commands])
    : undefined
}

/** Checks programs where the commands of the module run, as the user that they run as. */
const missingCommand = async (at: StepContext, commands: readonly string[]): Promise<string | undefined> => {
  if (commands.length === 0) return undefined
  const { run, runner } = at.module
  const where = { env: environmentOf(run, runner.type), signal: run.signal }
  const there = await run.runner(runner)
  // Cloud runs ask for the host runner but each gets its own machine, and containers have their own programs: only
  // share checks on this machine.
  const key = runner.type === 'host' && there.sharesFiles ? checkKey(commands, where.env['PATH']) : undefined
  if (key !== undefined && wasCheckedRecently(run.engine, key)) return undefined
  await run.openDirectory()
  const [missing] = await unusablePrograms(there, commands, where)
  if (missing === undefined) {
    if (key !== undefined) checksOf(run.engine).set(key, performance.now())
    return undefined
  }
  const [name, why] = missing
  return why === '' ? name : `${name}: ${why}`
}

const REPOSITORY =
  /^(git@[\w.-]+:[\w./-]+|https?:\/\/(www\.)?(github|gitlab|bitbucket)\.[\w.]+\/[\w.-]+\/[\w.-]+.*|[\w.-]+\/[\w.-]+)$/i

type Check = (value: string, run: Run) => boolean | Promise<boolean>

const exists: Check = async (path, run) => {
  await run.openDirectory()
  const { input } = run
  return await asking(input, () => isThere(path, input), false)
}

/** Target types that can be decided from the text alone. */
const textChecks: Readonly<Record<string, (value: string) => boolean>> = {
  domain: (value) => targetType(value) === 'domain',
  subdomain: (value) => targetType(value) === 'domain' && value !== domainParts(value).root,
  url: (value) => /^https?:\/\//i.test(value) && targetType(value) === 'url',
  cidr: isCidr,
  ip: (value) => isIP(value) !== 0,
  repo: (value) => REPOSITORY.test(value),
  number: (value) => /^-?\d+(\.\d+)?$/.test(value),
  string: (value: string) => value !== '',
} satisfies Record<(typeof TEXT_TARGET_TYPES)[number], (value: string) => boolean>

const checks: Readonly<Record<string, Check>> = {
  ...textChecks,
  path: exists,
  file: exists,
  folder: exists,
} satisfies Record<Exclude<(typeof TARGET_TYPES)[number], (typeof TEXT_TARGET_TYPES)[number]>, Check>

const matches = async (value: string, types: readonly string[], run: Run): Promise<boolean> => {
  for (const type of types) if (await checks[type]?.(value, run)) return true
  return false
}

const mismatch = (value: string, types: readonly string[], local?: LocalTarget): string =>
  `target type mismatch: supplied ${value} (detected ${targetType(value, local)}), expected type ${types.join(', ')}`

/** A variable may list several types; unknown ones are ignored. */
const kindsOf = (type: string): string[] =>
  type
    .split(',')
    .map((word) => word.trim())
    .filter((word) => Object.hasOwn(checks, word))

const isTarget = (name: string): boolean => name.toLowerCase() === 'target'

/**
 * The reason why a run of the workflow on this target would fail before its first step, or undefined. Only the text of
 * the target is checked: whether a file exists is known only on the machine of the run.
 */
export const targetMismatch = ({ root }: ResolvedWorkflow, target: string): string | undefined =>
  typeMismatch(root.dependencies, target)

/** The same for the dependencies of one module of a flow. */
export const typeMismatch = (
  { target_types: types = [], variables = [] }: Dependencies = {},
  target: string,
): string | undefined => {
  const ofVariables = variables
    .filter(({ name = '' }) => isTarget(name))
    .map(({ type = '' }) => kindsOf(type))
  const refusing = [types, ...ofVariables].find(
    (wanted) =>
      wanted.length > 0 &&
      wanted.every((type) => Object.hasOwn(textChecks, type) && textChecks[type]?.(target) === false),
  )
  return refusing === undefined ? undefined : mismatch(target, refusing)
}

const wrongType = async (
  at: StepContext,
  { target_types: types = [], variables = [] }: Dependencies,
): Promise<string | undefined> => {
  const { run } = at.module
  const { target, localTarget } = run.input
  const unknown = types.filter((type) => !Object.hasOwn(checks, type))
  if (unknown.length > 0) return `unknown target_types: ${unknown.join(', ')}`
  if (types.length > 0 && !(await matches(target, types, run))) return mismatch(target, types, localTarget)
  for (const { name = '', type = '', required } of variables) {
    const value = at.scope.get(name)
    const text = value === undefined ? '' : toPlain(value)
    if (required === true && text === '') return `required variable missing: ${name}`
    const wanted = kindsOf(type)
    if (isTarget(name) && wanted.length > 0 && !(await matches(target, wanted, run)))
      return mismatch(target, wanted, localTarget)
  }
  return undefined
}

/** The first unmet dependency, as a message for the author; `undefined` if all are met. */
export const unmetDependency = async (at: StepContext, needs: Dependencies): Promise<string | undefined> => {
  const { run } = at.module
  const types = await wrongType(at, needs)
  if (types !== undefined) return `dependency check failed: ${types}`
  // A dry run also works on machines without the programs.
  if (run.input.dryRun === true) return undefined
  const command = await missingCommand(at, needs.commands ?? [])
  if (command !== undefined) return `dependency check failed: required command not found: ${command}`
  for (const file of needs.files ?? []) {
    const path = runPath(renderPlain(file, at.scope), run.input)
    if (!(await exists(path, run)))
      run.input.recorder.log('warn', `a file that the workflow requires does not exist: ${path}`)
  }
  for (const source of needs.functions_conditions ?? []) {
    const result = await condition(at, source)
    if (result.kind === 'error')
      return `dependency check failed: function condition failed: ${source}: ${result.message}`
    if (result.kind === 'false') return `dependency check failed: function condition failed: ${source}`
  }
  return undefined
}
