import { stringify } from 'yaml'
import { Secret } from '../secret.ts'
import type { Setting } from './setting.ts'
import { entriesOf, type Entry, type LoadedConfig, type SettingsTable } from './table.ts'

const MASK = '***'
const URL_TEXT = /\b([a-z][a-z0-9+.-]*:\/\/)([^\s/?#]*@)?([^\s/?#]*)([^\s?#]*)(\?[^\s#]*)?(#\S*)?/gi

/** Masks user info, query and fragment of URLs; with `hidePath` their paths too, which hold the secrets of webhooks. */
const withoutSecrets = (text: string, hidePath: boolean): string =>
  text.replaceAll(URL_TEXT, (_, scheme: string, user = '', host = '', path = '', query = '', fragment = '') =>
    [
      scheme,
      user && `${MASK}@`,
      host,
      hidePath && path.length > 1 ? `/${MASK}` : path,
      query && `?${MASK}`,
      fragment && `#${MASK}`,
    ].join(''),
  )

/** The value of a setting with its secrets masked. */
export const shownValue = (
  setting: Pick<Setting<unknown>, 'secretPath' | 'shown'>,
  value: unknown,
): unknown => {
  if (setting.shown !== undefined) return setting.shown(value)
  if (value instanceof Secret) return String(value)
  if (typeof value === 'string') return withoutSecrets(value, setting.secretPath)
  return Array.isArray(value) ? value.map((item) => shownValue(setting, item)) : (value ?? null)
}

export interface ShownSetting {
  readonly key: string
  /** Secrets as `***`, never their value; URLs without user info and query. */
  readonly value: unknown
  readonly origin: string
}

const valueAt = (config: unknown, trail: readonly string[]): unknown =>
  trail.reduce<unknown>((branch, name) => (branch as Record<string, unknown>)[name], config)

/** The settings in force in the order of the table, secrets masked. */
const settingsInForce = (table: SettingsTable, config: unknown): Omit<ShownSetting, 'origin'>[] =>
  entriesOf(table).map(({ key, trail, setting }) => ({
    key,
    value: shownValue(setting, valueAt(config, trail)),
  }))

interface Loaded {
  readonly config: unknown
  readonly origins: LoadedConfig<unknown>['origins']
}

/** The same, each with the place where it was given. */
export const showConfig = (table: SettingsTable, { config, origins }: Loaded): ShownSetting[] =>
  settingsInForce(table, config).map((setting) => ({
    ...setting,
    origin: origins.get(setting.key) ?? 'default',
  }))

export interface DescribedSetting extends ShownSetting {
  readonly description: string
  /** The environment variable that sets it. */
  readonly env: string
  /** As documented. */
  readonly kind: string
  readonly fallback: string
}

/** The settings in force with their documentation. */
export const describeSettings = (table: SettingsTable, loaded: Loaded): DescribedSetting[] => {
  const entries = entriesOf(table)
  return showConfig(table, loaded).map((shown, index) => {
    const { env = [], setting } = entries[index] ?? {}
    return {
      ...shown,
      description: setting?.description ?? '',
      env: env[0] ?? '',
      kind: setting?.kind.replaceAll('\\|', '|') ?? '',
      fallback: setting?.fallbackText ?? '',
    }
  })
}

/** The settings that have a value, as the text of a settings file. */
export const settingsYaml = (table: SettingsTable, config: unknown): string => {
  const root: Record<string, unknown> = {}
  for (const { key, value } of settingsInForce(table, config)) {
    if (value === null) continue
    const names = key.split('.')
    const branch = names.slice(0, -1).reduce((at, name) => (at[name] ??= {}) as Record<string, unknown>, root)
    branch[names.at(-1) ?? ''] = value
  }
  return stringify(root)
}

/** JSON with the values of secrets, for comparison only. */
const comparable = (value: unknown): string => JSON.stringify(revealed(value)) ?? ''

const revealed = (value: unknown): unknown => {
  if (value instanceof Secret) return value.reveal()
  if (Array.isArray(value)) return value.map(revealed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, revealed(inner)]))
}

/** The keys whose values differ. */
export const changedSettings = (table: SettingsTable, before: unknown, after: unknown): string[] =>
  entriesOf(table)
    .filter(({ trail }) => comparable(valueAt(before, trail)) !== comparable(valueAt(after, trail)))
    .map(({ key }) => key)

const cell = (text: string): string => text.replaceAll(/(?<!\\)\|/g, '\\|').replaceAll('\n', ' ')

const row = ({ key, env, setting }: Entry): string => {
  const names = env.map((name) => `\`${name}\`${setting.secret ? ` (\`${name}_FILE\`)` : ''}`)
  return `| \`${key}\` | ${names.join(' ')} | ${setting.kind} | ${cell(setting.fallbackText)} | ${cell(setting.description)} |`
}

/** The table of settings as Markdown, for the documentation. */
export const settingsMarkdown = (table: SettingsTable): string =>
  [
    '| key | environment | type | default | meaning |',
    '| --- | --- | --- | --- | --- |',
    ...entriesOf(table).map(row),
  ].join('\n')
