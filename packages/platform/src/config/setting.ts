import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { Secret } from '../secret.ts'

/** Looks up the value of another setting by its dotted key, so that a default may depend on it. */
export type Lookup = (key: string) => unknown

/** Where a raw value stands: relative paths are taken from this folder. */
export interface Place {
  readonly folder: string
  /** The environment of this program. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** One row of the table of settings. `T` is the type of the value in the config. */
export interface Setting<T> {
  readonly kind: string
  readonly description: string
  readonly fallback: (lookup: Lookup) => T
  /** The default as documented. */
  readonly fallbackText: string
  /** Names of environment variables besides the one that follows from the key; the first that is set wins. */
  readonly env: readonly string[]
  /** Secrets are masked wherever settings are shown, and have `*_FILE` and `*_file` forms. */
  readonly secret: boolean
  /** The path of a URL in it is a secret, as that of a webhook is. */
  readonly secretPath: boolean
  /** It names a file that holds a secret, which others open. */
  readonly secretFile: boolean
  /** The value as people may see it, where it has secrets in it. */
  shown?(value: T): unknown
  /** The value of a raw one: text from the environment, or what YAML made of it. Throws what it must be. */
  readonly parse: (raw: unknown, place: Place) => T
}

interface Options<T> {
  readonly default: T | ((lookup: Lookup) => T)
  readonly defaultText?: string
  readonly env?: readonly string[]
  readonly secretPath?: boolean
  readonly secretFile?: boolean
}

interface Shape<T> {
  readonly kind: string
  readonly parse: Setting<T>['parse']
  readonly secret?: boolean
}

const isFunction = <T>(value: T | ((lookup: Lookup) => T)): value is (lookup: Lookup) => T =>
  typeof value === 'function'

const textOf = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value).replace(/^"(.*)"$/, '$1')

const setting = <T>(shape: Shape<T>, description: string, options: Options<T>): Setting<T> => {
  const { default: given } = options
  return {
    kind: shape.kind,
    description,
    parse: shape.parse,
    secret: shape.secret ?? false,
    secretPath: options.secretPath ?? false,
    secretFile: options.secretFile ?? false,
    env: options.env ?? [],
    fallback: isFunction(given) ? given : () => given,
    fallbackText: options.defaultText ?? (isFunction(given) ? 'computed' : textOf(given)),
  }
}

const asText = (raw: unknown): string => {
  if (typeof raw === 'string') return raw
  if (typeof raw === 'number' || typeof raw === 'boolean') return String(raw)
  throw new Error('must be text')
}

export const text = (description: string, options: Options<string>): Setting<string> =>
  setting({ kind: 'text', parse: asText }, description, options)

/** A text that is left out by default. */
export const optionalText = (
  description: string,
  options: Omit<Options<string>, 'default'> = {},
): Setting<string | undefined> =>
  setting<string | undefined>({ kind: 'text', parse: asText }, description, {
    ...options,
    default: undefined,
  })

export const secret = (
  description: string,
  options: Omit<Options<string>, 'default'> = {},
): Setting<Secret | undefined> =>
  setting<Secret | undefined>(
    { kind: 'text', secret: true, parse: (raw) => new Secret(asText(raw)) },
    description,
    { ...options, default: undefined },
  )

export const integer = (
  description: string,
  options: Options<number> & { min: number; max: number },
): Setting<number> => {
  const { min, max } = options
  const parse = (raw: unknown): number => {
    const value = typeof raw === 'string' && /^[+-]?\d+$/.test(raw.trim()) ? Number(raw) : raw
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max)
      throw new Error(`must be an integer from ${min} to ${max}`)
    return value
  }
  return setting({ kind: `integer ${min}…${max}`, parse }, description, options)
}

/** Money or the like: decimals are fine. */
export const amount = (description: string, options: Options<number> & { min: number }): Setting<number> => {
  const { min } = options
  const parse = (raw: unknown): number => {
    const value = typeof raw === 'string' && /^\d+(\.\d+)?$/.test(raw.trim()) ? Number(raw) : raw
    if (typeof value !== 'number' || !Number.isFinite(value) || value < min)
      throw new Error(`must be a number from ${min}`)
    return value
  }
  return setting({ kind: `number ${min}…`, parse }, description, options)
}

const BOOLEANS = new Map([
  ...['true', 'yes', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', '0'].map((word) => [word, false] as const),
])

export const flag = (description: string, options: Options<boolean>): Setting<boolean> => {
  const parse = (raw: unknown): boolean => {
    const value = typeof raw === 'boolean' ? raw : BOOLEANS.get(asText(raw).trim().toLowerCase())
    if (value === undefined) throw new Error('must be true or false')
    return value
  }
  return setting({ kind: 'boolean', parse }, description, options)
}

const oneOf =
  <T extends string>(words: readonly T[]) =>
  (raw: unknown): T => {
    const found = words.find((word) => word === raw)
    if (found === undefined) throw new Error(`must be one of ${words.join(', ')}`)
    return found
  }

const choiceKind = (words: readonly string[]): string => words.join(' \\| ')

export const choice = <const T extends string>(
  description: string,
  options: Options<NoInfer<T>> & { of: readonly T[] },
): Setting<T> => setting<T>({ kind: choiceKind(options.of), parse: oneOf(options.of) }, description, options)

/** A choice that is left out by default. */
export const optionalChoice = <const T extends string>(
  description: string,
  options: { of: readonly T[] },
): Setting<T | undefined> =>
  setting<T | undefined>({ kind: choiceKind(options.of), parse: oneOf(options.of) }, description, {
    default: undefined,
  })

const splitList = (raw: unknown): unknown[] => {
  if (Array.isArray(raw)) return raw
  if (typeof raw === 'string') return raw.split(',')
  throw new Error('must be a list')
}

const asList = (raw: unknown): string[] =>
  splitList(raw)
    .map((item) => asText(item).trim())
    .filter((item) => item !== '')

/** A YAML list; in the environment the items are separated by commas. */
export const list = (
  description: string,
  options: Options<readonly string[]> & { item?: RegExp; itemText?: string },
): Setting<readonly string[]> => {
  const parse = (raw: unknown): readonly string[] => {
    const items = asList(raw)
    const bad = items.find((item) => options.item !== undefined && !options.item.test(item))
    if (bad !== undefined) throw new Error(`must hold ${options.itemText ?? 'other items'}`)
    return Object.freeze(items)
  }
  return setting<readonly string[]>({ kind: 'list', parse }, description, options)
}

const absolute = (path: string, place: Place): string => {
  if (path.trim() === '') throw new Error('must be a path')
  return resolve(place.folder, path.replace(/^~(?=\/|$)/, homedir()))
}

/** A path; relative ones start at the settings file's folder, or where the program was started. */
export const path = (description: string, options: Options<string>): Setting<string> =>
  setting({ kind: 'path', parse: (raw, place) => absolute(asText(raw), place) }, description, options)

/** A path that is left out by default. */
export const optionalPath = (description: string): Setting<string | undefined> =>
  setting<string | undefined>(
    { kind: 'path', parse: (raw, place) => absolute(asText(raw), place) },
    description,
    { default: undefined },
  )

export const paths = (description: string, options: Options<readonly string[]>): Setting<readonly string[]> =>
  setting<readonly string[]>(
    {
      kind: 'list of paths',
      parse: (raw, place) => Object.freeze(asList(raw).map((one) => absolute(one, place))),
    },
    description,
    options,
  )
