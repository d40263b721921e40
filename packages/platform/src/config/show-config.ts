import { entries, type Entry } from './keys.ts'
import type { LoadedConfig } from './read-config.ts'
import { Secret } from '../secret.ts'

export interface ShownSetting {
  readonly key: string
  /** Secrets as `***`, never their value. */
  readonly value: unknown
  readonly origin: string
}

const valueAt = (config: unknown, trail: readonly string[]): unknown =>
  trail.reduce<unknown>((branch, name) => (branch as Record<string, unknown>)[name], config)

/** The settings in force in the order of the table, secrets masked. */
export const showConfig = ({ config, origins }: LoadedConfig): ShownSetting[] =>
  entries().map(({ key, trail }) => {
    const value = valueAt(config, trail)
    return {
      key,
      value: value instanceof Secret ? String(value) : (value ?? null),
      origin: origins.get(key) ?? 'default',
    }
  })

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
