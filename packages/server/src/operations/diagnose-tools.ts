import { readdir } from 'node:fs/promises'
import {
  findIsolation,
  folderProblems,
  homesOf,
  openToolFolders,
  openUsers,
  toolFolders,
} from '@scanfarm/worker'
import { errorText, type Variable } from '@scanfarm/platform'
import type { Config } from '../settings.ts'

/** The result of checking one requirement of a farm. */
export interface CheckResult {
  readonly part: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
}

const MOST_NAMES = 20

const sampleOf = (config: Config) => openUsers(findIsolation(config), '', async () => {}).sample

const named = (names: readonly string[]): string =>
  names.length <= MOST_NAMES
    ? names.join(', ')
    : `${names.slice(0, MOST_NAMES).join(', ')} and ${names.length - MOST_NAMES} more`

const failed = (part: string, error: unknown): CheckResult => ({
  part,
  status: 'failed',
  message: errorText(error),
})

/** Checks the folders for tools and lists their programs. */
export const checkFolders = async (config: Config): Promise<CheckResult> => {
  const part = 'folders'
  try {
    const sample = sampleOf(config)
    const folders = openToolFolders(toolFolders(config), sample)
    const problems = folderProblems(folders, sample)
    if (problems.length > 0) return { part, status: 'warning', message: problems.join('; ') }
    const programs = (await readdir(folders.binaries)).sort()
    const tools = programs.length === 0 ? 'no programs in it yet' : `with ${named(programs)}`
    return {
      part,
      status: 'ok',
      message: `${folders.base}; commands may read them; ${folders.binaries} ${tools}`,
    }
  } catch (error) {
    return failed(part, error)
  }
}

/** Checks the `HOME` of commands. */
export const checkHome = (config: Config): CheckResult => {
  const part = 'home'
  const { home, homeMode } = config.runner
  if (home === undefined)
    return {
      part,
      status: 'ok',
      message: 'none: each attempt has an empty one (set runner.home for a permanent one)',
    }
  try {
    homesOf(config, findIsolation(config))
    const problems = folderProblems({ home }, sampleOf(config))
    if (problems.length > 0) return { part, status: 'warning', message: problems.join('; ') }
    return { part, status: 'ok', message: `${home}, ${homeMode}` }
  } catch (error) {
    return failed(part, error)
  }
}

/** Checks the variables that runs receive. */
export const checkVariables = ({ runner, workflows }: Config): CheckResult => {
  const part = 'variables'
  const all = [...runner.env, ...workflows.variables]
  const namesOf = (some: readonly Variable[]): string[] => some.map(({ name }) => name)
  const there = all.filter(({ value }) => value !== undefined)
  const missing = namesOf(all.filter(({ value }) => value === undefined))
  const masked = namesOf(there.filter(({ isSecret }) => isSecret))
  const open = namesOf(there.filter(({ isSecret }) => !isSecret))
  const texts = [
    ...(missing.length === 0 ? [] : [`not set in the environment of this program: ${named(missing)}`]),
    ...(masked.length === 0 ? [] : [`masked: ${named(masked)}`]),
    ...(open.length === 0 ? [] : [`not masked: ${named(open)}`]),
  ]
  return {
    part,
    status: missing.length === 0 ? 'ok' : 'warning',
    message: texts.length === 0 ? 'none' : texts.join('; '),
  }
}
