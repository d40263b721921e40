import { fileErrorText } from '../file-error.ts'
import { shownValue } from './shown-value.ts'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { entries, type Config, type ConfigFile, type Entry } from './keys.ts'
import type { Place } from './setting.ts'
import type { Variable } from './variables.ts'
import { readSettingsFile, type SettingsFile } from './settings-file.ts'

export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Values by dotted key that win over everything, as given on the command line. */
  readonly argvOverrides?: Readonly<Record<string, unknown>>
  /** Settings file; missing: none is read. */
  readonly configPath?: string | undefined
}

export interface LoadedConfig {
  readonly config: Config
  /** Where each value came from, by dotted key: `default`, an environment variable, a line of the file, `command line`. */
  readonly origins: ReadonlyMap<string, string>
}

/** Settings that cannot be used; `problems` names every one of them with its key and what to do. */
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
  readonly place: Place
}

interface Loading {
  readonly sources: ConfigSources
  readonly file: SettingsFile
  readonly filePlace: Place
  readonly problems: string[]
  readonly values: Map<string, unknown>
  readonly origins: Map<string, string>
  /** Files with secrets by their paths. */
  readonly secretFiles: Set<string>
}

const here = ({ env }: Pick<ConfigSources, 'env'>): Place => ({ folder: process.cwd(), env })

const fromEnvironment = (sources: ConfigSources, names: readonly string[]): Raw | undefined => {
  const { env } = sources
  const name = names.find((candidate) => (env[candidate] ?? '') !== '')
  return name === undefined ? undefined : { raw: env[name], origin: name, place: here(sources) }
}

const fromFile = (loading: Loading, key: string): Raw | undefined => {
  const value = loading.file.values.get(key)
  if (value === undefined) return undefined
  return { raw: value.raw, origin: `${loading.sources.configPath}:${value.line}`, place: loading.filePlace }
}

const readSecretFile = (loading: Loading, pointer: Raw): Raw => {
  const file = resolve(pointer.place.folder, String(pointer.raw))
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
  const given = loading.sources.argvOverrides?.[key]
  if (given !== undefined) return { raw: given, origin: 'command line', place: here(loading.sources) }
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
      loading.values.set(entry.key, entry.setting.parse(found.raw, found.place))
    } catch (error) {
      throw new Error(`${fileErrorText(error)}${shown(entry, found.raw)} (from ${found.origin})`)
    }
  } catch (error) {
    loading.problems.push(`${entry.key} (${entry.env[0]}) ${fileErrorText(error)}`)
  }
}

const fillDefaults = (loading: Loading, table: readonly Entry[]): void => {
  const byKey = new Map(table.map((entry) => [entry.key, entry]))
  const lookup = (key: string): unknown =>
    loading.values.has(key) ? loading.values.get(key) : byKey.get(key)?.setting.fallback(lookup)
  for (const { key, setting } of table) {
    if (loading.values.has(key)) continue
    if (!loading.origins.has(key)) loading.origins.set(key, 'default')
    loading.values.set(key, setting.fallback(lookup))
  }
}

/** What no single setting can see. */
const checkTogether = (loading: Loading): void => {
  const { values, problems } = loading
  const has = (key: string): boolean => values.get(key) !== undefined
  if (values.get('artifacts.kind') === 's3' && !has('artifacts.s3.bucket'))
    problems.push('artifacts.s3.bucket (SCANFARM_ARTIFACTS_S3_BUCKET) is needed when artifacts.kind is s3')
  for (const group of ['artifacts.s3', 'storage.s3', 'cloud.aws'])
    if (has(`${group}.access_key`) !== has(`${group}.secret_key`))
      problems.push(`${group}.access_key and ${group}.secret_key belong together: give both or none`)
  if (has('llm.base_url') !== has('llm.model'))
    problems.push('llm.base_url and llm.model belong together: give both or none')
  if (has('llm.api_key') && !has('llm.base_url'))
    problems.push('llm.api_key is of no use without llm.base_url: say where it belongs')
  if (values.get('queue.kind') === 'postgres' && has('redis.url'))
    problems.push(
      'queue.kind (SCANFARM_QUEUE) is postgres but redis.url (REDIS_URL) is set: remove one of them',
    )
  checkCloud(loading)
}

const AZURE_GROUPS = [
  ['tenant', 'client', 'secret'],
  ['subscription', 'resource_group', 'subnet'],
]

const checkCloud = ({ values, problems }: Loading): void => {
  for (const group of AZURE_GROUPS) {
    const keys = group.map((name) => `cloud.azure.${name}`)
    const missing = keys.filter((key) => values.get(key) === undefined)
    if (missing.length > 0 && missing.length < keys.length)
      problems.push(`${missing.join(' and ')} missing: ${keys.join(', ')} belong together`)
  }
  if (Number(values.get('cloud.hours')) > Number(values.get('cloud.limits.max_hours')))
    problems.push('cloud.hours is more than cloud.limits.max_hours allows')
  if (values.get('cloud.provider') === 'local' && values.get('cloud.local.enabled') !== true)
    problems.push(
      'cloud.provider is local, which is for development: set cloud.local.enabled to true as well',
    )
}

type Branch = { [name: string]: unknown }

const branchAt = (root: Branch, trail: readonly string[]): Branch =>
  trail.reduce<Branch>((branch, name) => (branch[name] ??= {}) as Branch, root)

const deepFreeze = (value: unknown): void => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.values(value).forEach(deepFreeze)
  Object.freeze(value)
}

/** The settings file itself, which counts as a secret when it holds one, and every file with a secret. */
const filesOf = (loading: Loading, table: readonly Entry[]): ConfigFile[] => {
  const { values, file, secretFiles, sources } = loading
  for (const { key, setting } of table) {
    const value = values.get(key)
    if (setting.secretFile && typeof value === 'string') secretFiles.add(resolve(value))
  }
  const given = table.flatMap(({ key, setting }) =>
    setting.shown === undefined
      ? []
      : (values.get(key) as readonly Variable[]).map((variable) => ({ key, variable })),
  )
  for (const { variable } of given) if (variable.file !== undefined) secretFiles.add(variable.file)
  const own = sources.configPath === undefined ? [] : [resolve(sources.configPath)]
  const holdsSecrets =
    table.some(({ key, setting }) => (setting.secret || setting.secretPath) && file.values.has(key)) ||
    given.some(
      ({ key, variable: { isSecret, from } }) => isSecret && from === 'settings' && file.values.has(key),
    )
  return [
    ...own.map((path) => ({ path, holdsSecrets })),
    ...[...secretFiles].map((path) => ({ path, holdsSecrets: true })),
  ]
}

const assemble = (loading: Loading, table: readonly Entry[]): Config => {
  const root: Branch = { files: filesOf(loading, table) }
  for (const { key, trail } of table)
    branchAt(root, trail.slice(0, -1))[trail.at(-1) ?? ''] = loading.values.get(key)
  deepFreeze(root)
  return root as Config
}

const knownKeys = (table: readonly Entry[]): Set<string> =>
  new Set(table.flatMap(({ key, setting }) => (setting.secret ? [key, `${key}_file`] : [key])))

/**
 * Reads settings file, environment and command line, in rising order of precedence; an empty variable counts as not
 * set. Throws `ConfigError` with every problem there is.
 */
export const loadConfig = (sources: ConfigSources): LoadedConfig => {
  const table = entries()
  const { configPath } = sources
  const file =
    configPath === undefined
      ? { values: new Map(), problems: [] }
      : readSettingsFile(configPath, knownKeys(table))
  const filePlace =
    configPath === undefined ? here(sources) : { folder: dirname(resolve(configPath)), env: sources.env }
  const loading: Loading = {
    sources,
    file,
    filePlace,
    problems: [...file.problems],
    values: new Map(),
    origins: new Map(),
    secretFiles: new Set(),
  }
  for (const entry of table) readEntry(loading, entry)
  fillDefaults(loading, table)
  checkTogether(loading)
  if (loading.problems.length > 0) throw new ConfigError(loading.problems)
  return { config: assemble(loading, table), origins: loading.origins }
}

export const readConfig = (sources: ConfigSources): Config => loadConfig(sources).config

const CONFIG_FILES = ['scanfarm.yaml', '/etc/scanfarm/scanfarm.yaml']

/** The settings file to read: the one named, else `SCANFARM_CONFIG`, else the first that exists in the usual places. */
export const findConfigFile = (env: ConfigSources['env'], named?: string): string | undefined =>
  named ?? (env.SCANFARM_CONFIG || CONFIG_FILES.find((candidate) => existsSync(candidate)))
