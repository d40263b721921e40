import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { closest } from '@scanfarm/contracts'
import { fileErrorText } from '../error-text.ts'
import type { ValueContext } from './setting.ts'
import { readSettingsFile, type SettingsFile } from './settings-file.ts'
import { shownValue } from './show.ts'
import {
  checksOf,
  entriesOf,
  type ConfigFile,
  type ConfigOf,
  type Entry,
  type LoadedConfig,
  type SettingsTable,
} from './table.ts'

export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Values from the command line by dotted key. They override all other sources. */
  readonly argvOverrides?: Readonly<Record<string, unknown>>
  /** The settings file. Default: none is read. */
  readonly configPath?: string | undefined
}

/** The settings are invalid. Each problem names a setting, what was given and what is expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`the settings cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

interface Raw {
  readonly raw: unknown
  readonly origin: string
  readonly context: ValueContext
}

interface Loading {
  readonly sources: ConfigSources
  readonly file: SettingsFile
  readonly problems: string[]
  readonly values: Map<string, unknown>
  readonly origins: Map<string, string>
  /** Paths of files that contain secrets. */
  readonly secretFiles: Set<string>
}

const here = ({ env }: ConfigSources): ValueContext => ({ folder: process.cwd(), env })

const fromEnvironment = (sources: ConfigSources, names: readonly string[]): Raw | undefined => {
  const { env } = sources
  const name = names.find((candidate) => (env[candidate] ?? '') !== '')
  return name === undefined ? undefined : { raw: env[name], origin: name, context: here(sources) }
}

const fromFile = (loading: Loading, key: string): Raw | undefined => {
  const value = loading.file.values.get(key)
  const { configPath = '', env } = loading.sources
  if (value === undefined) return undefined
  const context = { folder: dirname(resolve(configPath)), env }
  return { raw: value.raw, origin: `${configPath}:${value.line}`, context }
}

const readSecretFile = (loading: Loading, pointer: Raw): Raw => {
  const file = resolve(pointer.context.folder, String(pointer.raw))
  loading.secretFiles.add(file)
  try {
    return { ...pointer, raw: readFileSync(file, 'utf8').replace(/\r?\n$/, '') }
  } catch (error) {
    throw new Error(`names a file that cannot be read: ${fileErrorText(error)}`)
  }
}

const onlyOne = (loading: Loading, direct: Raw | undefined, pointer: Raw | undefined): Raw | undefined => {
  if (direct && pointer)
    throw new Error(`is given by ${direct.origin} and by ${pointer.origin}: keep one of them`)
  return pointer ? readSecretFile(loading, pointer) : direct
}

const findRaw = (loading: Loading, { key, env, setting }: Entry): Raw | undefined => {
  const override = loading.sources.argvOverrides?.[key]
  if (override !== undefined) return { raw: override, origin: 'command line', context: here(loading.sources) }
  const variable = fromEnvironment(loading.sources, env)
  const value = fromFile(loading, key)
  if (!setting.secret) return variable ?? value
  const variableFile = fromEnvironment(
    loading.sources,
    env.map((name) => `${name}_FILE`),
  )
  return onlyOne(loading, variable, variableFile) ?? onlyOne(loading, value, fromFile(loading, `${key}_file`))
}

const shown = (entry: Entry, raw: unknown): string =>
  entry.setting.secret || entry.setting.shown !== undefined
    ? ''
    : `, not ${JSON.stringify(shownValue(entry.setting, raw))}`

const readEntry = (loading: Loading, entry: Entry): void => {
  try {
    const found = findRaw(loading, entry)
    if (found === undefined) return
    loading.origins.set(entry.key, found.origin)
    try {
      loading.values.set(entry.key, entry.setting.parse(found.raw, found.context))
    } catch (error) {
      throw new Error(`${fileErrorText(error)}${shown(entry, found.raw)} (from ${found.origin})`)
    }
  } catch (error) {
    loading.problems.push(`${entry.key} (${entry.env[0]}) ${fileErrorText(error)}`)
  }
}

const fillDefaults = ({ values, origins }: Loading, table: readonly Entry[]): void => {
  const byKey = new Map(table.map((entry) => [entry.key, entry]))
  const lookup = (key: string): unknown =>
    values.has(key) ? values.get(key) : byKey.get(key)?.setting.fallback(lookup)
  for (const { key } of table) {
    if (!origins.has(key)) origins.set(key, 'default')
    values.set(key, lookup(key))
  }
}

type Branch = { [name: string]: unknown }

const branchAt = (root: Branch, trail: readonly string[]): Branch =>
  trail.reduce<Branch>((branch, name) => (branch[name] ??= {}) as Branch, root)

const deepFreeze = (value: unknown): void => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.values(value).forEach(deepFreeze)
  Object.freeze(value)
}

/** The settings file, and every file with a secret. */
const filesOf = ({ values, file, secretFiles, sources }: Loading, table: readonly Entry[]): ConfigFile[] => {
  const named = table.flatMap(({ key, setting }) => setting.secretFiles?.(values.get(key)) ?? [])
  const containsSecrets = table.some(
    ({ key, setting }) => file.values.has(key) && setting.hasSecret(values.get(key)),
  )
  return [
    ...(sources.configPath === undefined ? [] : [{ path: resolve(sources.configPath), containsSecrets }]),
    ...[...new Set([...secretFiles, ...named])].map((path) => ({ path, containsSecrets: true })),
  ]
}

const assemble = (loading: Loading, table: readonly Entry[]): Branch => {
  const root: Branch = { files: filesOf(loading, table) }
  for (const { key, trail } of table)
    branchAt(root, trail.slice(0, -1))[trail.at(-1) ?? ''] = loading.values.get(key)
  deepFreeze(root)
  return root
}

const knownKeys = (table: readonly Entry[]): Set<string> =>
  new Set(table.flatMap(({ key, setting }) => (setting.secret ? [key, `${key}_file`] : [key])))

/** What to do about a name that no setting has. */
const hintFor = (name: string, known: Iterable<string>): string => {
  const meant = closest(name, known)
  return meant === undefined ? 'remove it (`scanfarm config --docs` lists all)' : `did you mean ${meant}?`
}

/** Set for steps, by compose files and by tests. */
const OTHER_VARIABLES =
  /^SCANFARM_(CONFIG|MARKER|RUN_ID|RUN_UUID|ATTEMPT|JOB_ID|WORKFLOW|WORKSPACE|OUTPUT|TARGET|ARTIFACTS|BIND|IMAGE|WORKER_IMAGE|PORT|VERSION|TEST_.+)$/
/** Kubernetes sets these for each service whose name begins with `scanfarm`. */
const isServiceLink = (name: string, value: string): boolean =>
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(name) || /^(tcp|udp|sctp):/.test(value)

/** Variables with the prefix of settings that no setting has. */
const unknownVariables = ({ env }: ConfigSources, table: readonly Entry[]): string[] => {
  const known = new Set(
    table.flatMap(({ env: names, setting }) =>
      setting.secret ? names.flatMap((name) => [name, `${name}_FILE`]) : names,
    ),
  )
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (!name.startsWith('SCANFARM_') || value === '' || known.has(name)) return []
    if (OTHER_VARIABLES.test(name) || isServiceLink(name, value)) return []
    return [`unknown variable ${name}: ${hintFor(name, known)}`]
  })
}

const unknownOverrides = ({ argvOverrides = {} }: ConfigSources, table: readonly Entry[]): string[] =>
  Object.keys(argvOverrides)
    .filter((key) => !table.some((entry) => entry.key === key))
    .map((key) => `unknown key ${key} on the command line`)

/**
 * Reads the settings file, the environment and the command line; later sources override earlier ones. An empty
 * variable counts as not set. Throws a `ConfigError` that lists every problem.
 */
export const loadConfig = <S extends SettingsTable>(settings: S, sources: ConfigSources): LoadedConfig<S> => {
  const table = entriesOf(settings)
  const known = knownKeys(table)
  const { configPath } = sources
  const file =
    configPath === undefined
      ? { values: new Map(), problems: [] }
      : readSettingsFile(configPath, known, (key) => hintFor(key, known))
  const loading: Loading = {
    sources,
    file,
    problems: [...file.problems, ...unknownVariables(sources, table), ...unknownOverrides(sources, table)],
    values: new Map(),
    origins: new Map(),
    secretFiles: new Set(),
  }
  for (const entry of table) readEntry(loading, entry)
  fillDefaults(loading, table)
  for (const check of checksOf(settings)) loading.problems.push(...check((key) => loading.values.get(key)))
  if (loading.problems.length > 0) throw new ConfigError(loading.problems)
  return { config: assemble(loading, table) as ConfigOf<S>, origins: loading.origins }
}

export const readConfig = <S extends SettingsTable>(settings: S, sources: ConfigSources): ConfigOf<S> =>
  loadConfig(settings, sources).config

const CONFIG_FILES = ['scanfarm.yaml', '/etc/scanfarm/scanfarm.yaml']

/** The settings file to read: `named`, else `SCANFARM_CONFIG`, else the first of the usual files that exists. */
export const findConfigFile = (env: ConfigSources['env'], named?: string): string | undefined =>
  named ?? (env.SCANFARM_CONFIG || CONFIG_FILES.find((candidate) => existsSync(candidate)))
