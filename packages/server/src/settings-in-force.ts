import { Secret, type Config } from '@scanfarm/platform'

export interface SettingInForce {
  /** Dotted, as in the settings file. */
  readonly key: string
  readonly value: unknown
}

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Every setting with its value; secrets as `***`. */
export const settingsInForce = (config: Config): SettingInForce[] => flatten(config, '')

const flatten = (group: object, prefix: string): SettingInForce[] =>
  Object.entries(group).flatMap(([name, value]: [string, unknown]): SettingInForce[] => {
    const key = prefix + snake(name)
    if (value instanceof Secret) return [{ key, value: String(value) }]
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return flatten(value, `${key}.`)
    return [{ key, value: value ?? null }]
  })
