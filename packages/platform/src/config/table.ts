import type { Lookup, Setting } from './setting.ts'

/** Checks several settings together. Returns a problem for each contradiction. */
export type Check = (value: Lookup) => readonly string[]

const CHECK = Symbol('check')

/** Settings by property name. A group may contain groups. */
export interface SettingsTable {
  readonly [name: string]: Setting<unknown> | SettingsTable
  readonly [CHECK]?: Check
}

type Values<S> = {
  readonly [K in keyof S as K extends string ? K : never]: S[K] extends Setting<infer T> ? T : Values<S[K]>
}

/** A file that settings were read from or that one of them names. */
export interface ConfigFile {
  readonly path: string
  readonly containsSecrets: boolean
}

/** The settings in force, grouped as in the table, deeply frozen. */
export type ConfigOf<S> = Values<S> & {
  /** Files that only this program should read. */
  readonly files: readonly ConfigFile[]
}

export interface LoadedConfig<S> {
  readonly config: ConfigOf<S>
  /** Where each value came from, by dotted key: `default`, an environment variable, a line of the file, `command line`. */
  readonly origins: ReadonlyMap<string, string>
}

/** A setting with the names that follow from its position in the table. */
export interface Entry {
  /** Dotted key of the settings file, like `worker.lease_ms`. */
  readonly key: string
  /** Property names from the root of the config. */
  readonly trail: readonly string[]
  /** Environment variables in order of precedence. */
  readonly env: readonly string[]
  readonly setting: Setting<unknown>
}

const PREFIX = 'SCANFARM_'

/** A group whose settings are also checked together. */
export const checked = <S extends SettingsTable>(settings: S, check: Check): S => ({
  ...settings,
  [CHECK]: check,
})

/** Reports the missing ones if only some of these settings are set. */
export const allOrNone =
  (...keys: readonly string[]): Check =>
  (value) => {
    const missing = keys.filter((key) => value(key) === undefined)
    if (missing.length === 0 || missing.length === keys.length) return []
    return [`${missing.join(' and ')} must be set too: set all of ${keys.join(', ')}, or none`]
  }

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const isSetting = (value: Setting<unknown> | SettingsTable): value is Setting<unknown> =>
  typeof value.parse === 'function'

const entry = (trail: readonly string[], setting: Setting<unknown>): Entry => {
  const key = trail.map(snake).join('.')
  const env = [...setting.env, PREFIX + key.replaceAll('.', '_').toUpperCase()]
  return { key, trail, env: [...new Set(env)], setting }
}

/** All settings in the order of the table. */
export const entriesOf = (table: SettingsTable, trail: readonly string[] = []): Entry[] =>
  Object.entries(table).flatMap(([name, value]) =>
    isSetting(value) ? [entry([...trail, name], value)] : entriesOf(value, [...trail, name]),
  )

/** All checks of the groups, in the order of the table. */
export const checksOf = (table: SettingsTable): Check[] => {
  const own = table[CHECK]
  const inner = Object.values(table).flatMap((value) => (isSetting(value) ? [] : checksOf(value)))
  return own === undefined ? inner : [...inner, own]
}
