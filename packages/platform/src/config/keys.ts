import { SETTINGS } from './settings.ts'
import type { Setting } from './setting.ts'

type ConfigOf<S> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : ConfigOf<S[K]>
}

/** A file that settings were read from or that one of them names. */
export interface ConfigFile {
  readonly path: string
  readonly holdsSecrets: boolean
}

/** The settings in force, grouped as in the table, deeply frozen. */
export type Config = ConfigOf<typeof SETTINGS> & {
  /** What nothing but this program should read. */
  readonly files: readonly ConfigFile[]
}

/** A row of the table with the names that follow from its place. */
export interface Entry {
  /** Dotted key of the settings file, such as `worker.lease_ms`. */
  readonly key: string
  /** Property names from the root of the config. */
  readonly trail: readonly string[]
  /** Environment variables in order of precedence. */
  readonly env: readonly string[]
  readonly setting: Setting<unknown>
}

const PREFIX = 'SCANFARM_'

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

interface Group {
  readonly [name: string]: Setting<unknown> | Group
}

const isSetting = (value: Setting<unknown> | Group): value is Setting<unknown> =>
  typeof value.parse === 'function'

const entry = (trail: readonly string[], setting: Setting<unknown>): Entry => {
  const key = trail.map(snake).join('.')
  const env = [...setting.env, PREFIX + key.replaceAll('.', '_').toUpperCase()]
  return { key, trail, env: [...new Set(env)], setting }
}

const walk = (group: Group, trail: readonly string[]): Entry[] =>
  Object.entries(group).flatMap(([name, value]) =>
    isSetting(value) ? [entry([...trail, name], value)] : walk(value, [...trail, name]),
  )

/** All settings in the order of the table. */
export const entries = (): Entry[] => walk(SETTINGS, [])
