import { stringify } from 'yaml'
import { Secret } from '../secret.ts'
import { entries, type Config, type Entry } from './keys.ts'
import type { LoadedConfig } from './read-config.ts'
import { shownValue } from './shown-value.ts'

export interface ShownSetting {
  readonly key: string
  /** Secrets as `***`, never their value; URLs without user info and query. */
  readonly value: unknown
  readonly origin: string
}

const valueAt = (config: unknown, trail: readonly string[]): unknown =>
  trail.reduce<unknown>((branch, name) => (branch as Record<string, unknown>)[name], config)

/** The settings in force in the order of the table, secrets masked. */
export const showConfig = ({ config, origins }: LoadedConfig): ShownSetting[] =>
  settingsInForce(config).map((setting) => ({ ...setting, origin: origins.get(setting.key) ?? 'default' }))

/** The same without where they come from. */
export const settingsInForce = (config: Config): Omit<ShownSetting, 'origin'>[] =>
  entries().map(({ key, trail, setting }) => ({ key, value: shownValue(setting, valueAt(config, trail)) }))

/** The same as the text of a settings file, without what is not set. */
export const settingsYaml = (config: Config): string => {
  const root: Record<string, unknown> = {}
  for (const { key, value } of settingsInForce(config)) {
    if (value === null) continue
    const names = key.split('.')
    const branch = names.slice(0, -1).reduce((at, name) => (at[name] ??= {}) as Record<string, unknown>, root)
    branch[names.at(-1) ?? ''] = value
  }
  return stringify(root)
}

/** Secrets inside of lists and maps show their values, too. */
const comparable = (value: unknown): string => JSON.stringify(revealed(value)) ?? ''

const revealed = (value: unknown): unknown => {
  if (value instanceof Secret) return value.reveal()
  if (Array.isArray(value)) return value.map(revealed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, revealed(inner)]))
}

/** Keys that have another value, secrets compared by their real values. */
export const changedSettings = (before: Config, after: Config): string[] =>
  entries()
    .filter(({ trail }) => comparable(valueAt(before, trail)) !== comparable(valueAt(after, trail)))
    .map(({ key }) => key)

const cell = (text: string): string => text.replaceAll(/(?<!\\)\|/g, '\\|').replaceAll('\n', ' ')

const row = ({ key, env, setting }: Entry): string => {
  const names = env.map((name) => `\`${name}\`${setting.secret ? ` (\`${name}_FILE\`)` : ''}`)
  return `| \`${key}\` | ${names.join(' ')} | ${setting.kind} | ${cell(setting.fallbackText)} | ${cell(setting.description)} |`
}

/** The table of settings as Markdown, for the handbook. */
export const settingsMarkdown = (): string =>
  [
    '| key | environment | type | default | meaning |',
    '| --- | --- | --- | --- | --- |',
    ...entries().map(row),
  ].join('\n')
