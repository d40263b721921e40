import { asking, isThere, runPath } from '../functions/files.ts'
import type { ResolvedWorkflow } from '../library/resolve.ts'
import type { Dependencies } from '../model.ts'
import { toPlain } from '../template/value.ts'
import { condition } from './condition.ts'
import type { Engine } from './engine.ts'
import { unusablePrograms } from './programs.ts'
import { environmentOf } from './command.ts'
import type { StepRun } from './place.ts'
import type { Run } from './run.ts'
import { renderPlain } from './render.ts'
import { domainParts, isCidr, targetType, type LocalTarget } from './target.ts'
import { isIP } from 'node:net'

/** For how long runs of one worker believe that programs of its machine are there: a look starts a process. */
const BELIEVED_MS = 5_000
const MOST_LOOKS = 1_000

const looks = new WeakMap<Engine, Map<string, number>>()

/** When all programs of a look were found last, for all runs that share the engine. */
const looksOf = (engine: Engine): Map<string, number> => {
  const found = looks.get(engine) ?? new Map<string, number>()
  if (found.size >= MOST_LOOKS) found.clear()
  looks.set(engine, found)
  return found
}

const wasFoundLately = (engine: Engine, key: string): boolean =>
  performance.now() - (looksOf(engine).get(key) ?? -Infinity) < BELIEVED_MS

/**
 * The same for runs that find the same; undefined: what is found depends on the folder of the run. The users of runs do
 * not matter: all users of one worker have the same rights outside of their workspaces.
 */
const lookKey = (commands: readonly string[], path: string | undefined): string | undefined => {
  const isFixed = path?.split(':').every((folder) => folder.startsWith('/')) ?? false
  return isFixed && !commands.some((name) => name.includes('/'))
    ? JSON.stringify([path, ...commands])
    : undefined
}

/** Programs are looked for where the module's commands run, by the user that they run as. */
const missingCommand = async (at: StepRun, commands: readonly string[]): Promise<string | undefined> => {
  if (commands.length === 0) return undefined
  const { run, runner } = at.module
  const where = { env: environmentOf(run, runner.type), signal: run.signal }
  const there = await run.runner(runner)
  // A cloud run asks for the host, and gets a machine of its own; a container has programs of its own.
  const key = runner.type === 'host' && there.sharesFiles ? lookKey(commands, where.env['PATH']) : undefined
  if (key !== undefined && wasFoundLately(run.engine, key)) return undefined
  const [missing] = await unusablePrograms(there, commands, where)
  if (missing === undefined) {
    if (key !== undefined) looksOf(run.engine).set(key, performance.now())
    return undefined
  }
  const [name, why] = missing
  return why === '' ? name : `${name}: ${why}`
}

const REPOSITORY =
  /^(git@[\w.-]+:[\w./-]+|https?:\/\/(www\.)?(github|gitlab|bitbucket)\.[\w.]+\/[\w.-]+\/[\w.-]+.*|[\w.-]+\/[\w.-]+)$/i

type Check = (value: string, run: Run) => boolean | Promise<boolean>

const exists: Check = async (path, { input }) => await asking(input, () => isThere(path, input), false)

/** Kinds that the text of a target tells. */
const textChecks: Readonly<Record<string, (value: string) => boolean>> = {
  domain: (value) => targetType(value) === 'domain',
  subdomain: (value) => targetType(value) === 'domain' && value !== domainParts(value).root,
  url: (value) => /^https?:\/\//i.test(value) && targetType(value) === 'url',
  cidr: isCidr,
  ip: (value) => isIP(value) !== 0,
  repo: (value) => REPOSITORY.test(value),
  number: (value) => /^-?\d+(\.\d+)?$/.test(value),
  string: (value) => value !== '',
}

const checks: Readonly<Record<string, Check>> = {
  ...textChecks,
  path: exists,
  file: exists,
  folder: exists,
}

/** Kinds of target that a workflow may ask for. */
export const TARGET_TYPES: readonly string[] = Object.keys(checks)

const matches = async (value: string, types: readonly string[], run: Run): Promise<boolean> => {
  for (const type of types) if (await checks[type]?.(value, run)) return true
  return false
}

const mismatch = (value: string, types: readonly string[], local?: LocalTarget): string =>
  `target type mismatch: supplied ${value} (detected ${targetType(value, local)}), expected type ${types.join(', ')}`

/** Of variables with several kinds; words that name no kind are left out. */
const kindsOf = (type: string): string[] =>
  type
    .split(',')
    .map((word) => word.trim())
    .filter((word) => Object.hasOwn(checks, word))

const isTarget = (name: string): boolean => name.toLowerCase() === 'target'

/**
 * Why a run of the workflow on this target would fail before its first step, as far as the text of the target tells:
 * whether a file is there is known on the machine of the run alone.
 */
export const targetMismatch = ({ root }: ResolvedWorkflow, target: string): string | undefined => {
  const { target_types: types = [], variables = [] } = root.dependencies ?? {}
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
  at: StepRun,
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

/** What the workflow needs and what is not there, in the words of its author; `undefined` when all is well. */
export const unmetDependency = async (at: StepRun, needs: Dependencies): Promise<string | undefined> => {
  const { run } = at.module
  const types = await wrongType(at, needs)
  if (types !== undefined) return `dependency check failed: ${types}`
  // A dry run tells what would be done, also where the programs are not.
  if (run.input.dryRun === true) return undefined
  const command = await missingCommand(at, needs.commands ?? [])
  if (command !== undefined) return `dependency check failed: required command not found: ${command}`
  for (const file of needs.files ?? []) {
    const path = runPath(renderPlain(run.engine, file, at.scope), run.input)
    if (!(await exists(path, run)))
      run.input.recorder.log('warn', `a file that the workflow names as needed is not there: ${path}`)
  }
  for (const source of needs.functions_conditions ?? []) {
    const result = await condition(at, source)
    if (result.kind === 'error')
      return `dependency check failed: function condition failed: ${source}: ${result.message}`
    if (result.kind === 'false') return `dependency check failed: function condition failed: ${source}`
  }
  return undefined
}
