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
