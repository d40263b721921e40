import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { Secret } from '../secret.ts'

/** The value of another setting by its dotted key, for defaults and checks that depend on it. */
export type Lookup = (key: string) => unknown

/** Where a value comes from. */
export interface ValueContext {
  /** Relative paths start here. */
  readonly folder: string
  /** The environment of this program. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** One row of the table of settings. `T` is the type of the value in the config. */
export interface Setting<T> {
  /** The type as documented. */
  readonly kind: string
  readonly description: string
  readonly fallback: (lookup: Lookup) => T
  /** The default as documented. */
  readonly fallbackText: string
  /** Environment variables besides the one that follows from the key; the first that is set wins. */
  readonly env: readonly string[]
  /** Secrets are masked wherever settings are shown, and have `*_FILE` and `*_file` forms. */
  readonly secret: boolean
  /** The paths of its URLs are secrets, like those of webhooks. */
  readonly secretPath: boolean
  /** The files with secrets that the value names. */
  secretFiles?(value: T): readonly string[]
  /** Whether a value given in the settings file makes that file a secret. */
  hasSecret(value: T): boolean
  /** The value for display, where parts of it are secrets. */
  shown?(value: T): unknown
  /** Converts text of the environment, or what YAML made of it. Throws an error that says what the value must be. */
  readonly parse: (raw: unknown, context: ValueContext) => T
}

interface Options<T> {
  /** Missing: the setting has no value unless one is given. */
  readonly default?: T | ((lookup: Lookup) => T)
  /** How a computed default is documented. */
  readonly defaultText?: string
  readonly env?: readonly string[]
  readonly secretPath?: boolean
  /** The value names a file that holds a secret. */
  readonly secretFile?: boolean
  /** The value names a folder in which these files, if they exist, hold secrets. */
  readonly secretsBelow?: readonly string[]
}

/** The type of a setting: without a default the value may be missing. */
type Value<T, O> = O extends { readonly default: unknown } ? T : T | undefined

interface Shape<T> {
  readonly kind: string
  /** Continues the sentence "must …". */
  readonly must: string
  /** Brings text of the environment into the form that `valid` expects. */
  readonly read: (raw: unknown) => unknown
  readonly valid: (value: unknown) => boolean
  /** Makes the value of the config from a valid one. */
  readonly convert?: (value: unknown, context: ValueContext) => T
  readonly secret?: boolean
}

const parser =
  <T>({ valid, must, read, convert }: Shape<T>): Setting<T>['parse'] =>
  (raw, context) => {
    const value = read(raw)
    if (!valid(value)) throw new Error(`must ${must}`)
    return convert === undefined ? (value as T) : convert(value, context)
  }

const defaultText = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value).replace(/^"(.*)"$/, '$1')

const setting = <T, O extends Options<T>>(
  shape: Shape<T>,
  description: string,
  options: O,
): Setting<Value<T, O>> => {
  const { default: initial, secretPath = false, secretFile = false, secretsBelow = [] } = options
  const secret = shape.secret ?? false
  const fallback = (lookup: Lookup): unknown =>
    typeof initial === 'function' ? (initial as (lookup: Lookup) => T)(lookup) : initial
  return {
    kind: shape.kind,
    description,
    parse: parser(shape) as Setting<Value<T, O>>['parse'],
    secret,
    secretPath,
    hasSecret: () => secret || secretPath,
    secretFiles: (value) =>
      typeof value === 'string'
        ? [
            ...(secretFile ? [resolve(value)] : []),
            ...secretsBelow.map((name) => join(value, name)).filter((file) => existsSync(file)),
          ]
        : [],
    env: options.env ?? [],
    fallback: fallback as Setting<Value<T, O>>['fallback'],
    fallbackText: options.defaultText ?? (typeof initial === 'function' ? 'computed' : defaultText(initial)),
  }
}

const asText = (raw: unknown): unknown =>
  typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : raw

const isText = (value: unknown): value is string => typeof value === 'string'

const TEXT = { kind: 'text', must: 'be text', read: asText, valid: isText }

export const text = <O extends Options<string>>(description: string, options: O = {} as O) =>
  setting<string, O>(TEXT, description, options)

const WEB_ADDRESS = /^(https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?)?$/u

/** An http or https URL without a query; empty: none. */
export const webAddress = <O extends Options<string>>(description: string, options: O = {} as O) =>
  setting<string, O>(
    {
      ...TEXT,
      must: 'be like https://farm.example.com, or empty',
      valid: (value) => isText(value) && WEB_ADDRESS.test(value),
    },
    description,
    options,
  )

interface SecretOptions extends Pick<Options<Secret>, 'env'> {
  /** Throws an error that continues "must …" without the value. */
  readonly valid?: (value: string) => unknown
  /** What it must be, if not just text. */
  readonly must?: string
}

export const secret = (description: string, options: SecretOptions = {}) =>
  setting<Secret, SecretOptions>(
    {
      ...TEXT,
      must: options.must ?? TEXT.must,
      secret: true,
      convert(value) {
        options.valid?.(String(value))
        return new Secret(String(value))
      },
    },
    description,
    options,
  )

const asNumber =
  (form: RegExp) =>
  (raw: unknown): unknown =>
    typeof raw === 'string' && form.test(raw.trim()) ? Number(raw) : raw

const isNumber = (value: unknown, min: number, max: number): boolean =>
  typeof value === 'number' && value >= min && value <= max

export const integer = <O extends Options<number> & { min: number; max: number }>(
  description: string,
  options: O,
) =>
  setting<number, O>(
    {
      kind: `integer ${options.min}…${options.max}`,
      must: `be an integer from ${options.min} to ${options.max}`,
      read: asNumber(/^[+-]?\d+$/),
      valid: (value) => isNumber(value, options.min, options.max) && Number.isInteger(value),
    },
    description,
    options,
  )

/** A number that may have decimals, like an amount of money. */
export const amount = <O extends Options<number> & { min: number }>(description: string, options: O) =>
  setting<number, O>(
    {
      kind: `number ${options.min}…`,
      must: `be a number from ${options.min}`,
      read: asNumber(/^\d+(\.\d+)?$/),
      valid: (value) => isNumber(value, options.min, Number.MAX_VALUE),
    },
    description,
    options,
  )

const BOOLEANS = new Map<unknown, boolean>([
  ...['true', 'yes', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', '0'].map((word) => [word, false] as const),
])

export const flag = <O extends Options<boolean>>(description: string, options: O) =>
  setting<boolean, O>(
    {
      kind: 'boolean',
      must: 'be true or false',
      read: (raw) => (Array.isArray(raw) ? raw : BOOLEANS.get(String(raw).trim().toLowerCase())),
      valid: (value) => typeof value === 'boolean',
    },
    description,
    options,
  )

export const choice = <const T extends string, O extends Options<NoInfer<T>>>(
  description: string,
  options: O & { readonly of: readonly T[] },
) =>
  setting<T, O>(
    {
      kind: options.of.join(' \\| '),
      must: `be one of ${options.of.join(', ')}`,
      read: (raw) => raw,
      valid: (value) => options.of.some((one) => one === value),
    },
    description,
    options,
  )

const asList = (raw: unknown): unknown => {
  const items: unknown = typeof raw === 'string' ? raw.split(',') : raw
  if (!Array.isArray(items)) return items
  return items
    .map(asText)
    .map((item) => (typeof item === 'string' ? item.trim() : item))
    .filter((item) => item !== '')
}

const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)

/** A YAML list; in the environment the items are separated by commas. */
export const list = <O extends Options<readonly string[]> & { item?: RegExp; itemText?: string }>(
  description: string,
  options: O,
) =>
  setting<readonly string[], O>(
    {
      kind: 'list',
      must: options.itemText === undefined ? 'be a list of texts' : `hold ${options.itemText}`,
      read: asList,
      valid: (value) => isTexts(value) && value.every((item) => options.item?.test(item) ?? true),
    },
    description,
    options,
  )

const absolute = (path: unknown, { folder }: ValueContext): string =>
  resolve(folder, String(path).replace(/^~(?=\/|$)/, homedir()))

/** A path; relative ones start at the settings file's folder, or where the program was started. */
export const path = <O extends Options<string>>(description: string, options: O = {} as O) =>
  setting<string, O>(
    {
      kind: 'path',
      must: 'be a path',
      read: asText,
      valid: (value) => isText(value) && /\S/.test(value),
      convert: absolute,
    },
    description,
    options,
  )

export const paths = <O extends Options<readonly string[]>>(description: string, options: O) =>
  setting<readonly string[], O>(
    {
      kind: 'list of paths',
      must: 'be a list of paths',
      read: asList,
      valid: isTexts,
      convert: (items, context) => (items as readonly unknown[]).map((item) => absolute(item, context)),
    },
    description,
    options,
  )
