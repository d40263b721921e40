import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { asking, isThere, runPath } from '../functions/files.ts'
import type { Dependencies } from '../model.ts'
import { toPlain } from '../template/value.ts'
import { condition } from './condition.ts'
import { environmentOf } from './command.ts'
import type { StepRun } from './place.ts'
import type { Run } from './run.ts'
import { renderPlain } from './render.ts'
import { domainParts, isCidr, targetType, type LocalTarget } from './target.ts'
import { isIP } from 'node:net'
import { singleQuoted } from '../shell/quote.ts'

const isExecutable = async (path: string): Promise<boolean> =>
  await access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

const onPath = async (name: string, path: string): Promise<boolean> => {
  if (name.includes('/')) return await isExecutable(name)
  for (const folder of path.split(delimiter)) {
    if (folder !== '' && (await isExecutable(join(folder, name)))) return true
  }
  return false
}

/** Programs are looked for where the module's commands run. */
const missingCommand = async (at: StepRun, commands: readonly string[]): Promise<string | undefined> => {
  const { run, runner } = at.module
  if (runner.type === 'host') {
    const { PATH = '' } = environmentOf(run)
    for (const name of commands) if (!(await onPath(name, PATH))) return name
    return undefined
  }
  const there = await run.runner(runner)
  for (const name of commands) {
    const outcome = await there.run(
      { argv: ['/bin/sh', '-c', `command -v ${singleQuoted(name)}`], env: environmentOf(run, runner.type) },
      { signal: run.signal },
    )
    if (outcome.kind !== 'exited' || outcome.code !== 0) return name
  }
  return undefined
}

const REPOSITORY =
  /^(git@[\w.-]+:[\w./-]+|https?:\/\/(www\.)?(github|gitlab|bitbucket)\.[\w.]+\/[\w.-]+\/[\w.-]+.*|[\w.-]+\/[\w.-]+)$/i

type Check = (value: string, run: Run) => boolean | Promise<boolean>

const exists: Check = async (path, { input }) => await asking(input, () => isThere(path, input), false)

const checks: Readonly<Record<string, Check>> = {
  domain: (value) => targetType(value) === 'domain',
  subdomain: (value) => targetType(value) === 'domain' && value !== domainParts(value).root,
  url: (value) => /^https?:\/\//i.test(value) && targetType(value) === 'url',
  cidr: isCidr,
  ip: (value) => isIP(value) !== 0,
  repo: (value) => REPOSITORY.test(value),
  number: (value) => /^-?\d+(\.\d+)?$/.test(value),
  string: (value) => value !== '',
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
    const wanted = type
      .split(',')
      .map((word) => word.trim())
      .filter((word) => Object.hasOwn(checks, word))
    if (name.toLowerCase() === 'target' && wanted.length > 0 && !(await matches(target, wanted, run)))
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
