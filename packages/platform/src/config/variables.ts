import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Secret } from '../secret.ts'
import { fileErrorText } from '../error-text.ts'
import type { ValueContext, Setting } from './setting.ts'

/** A named value that the operator gives to runs. */
export interface Variable {
  readonly name: string
  /** Missing if the variable is passed on from the environment of this program, which does not have it. */
  readonly value: Secret | undefined
  /** The value, if it is a number or a boolean in YAML. */
  readonly plain?: number | boolean
  readonly from: 'settings' | 'environment' | 'file'
  /** The file that the value was read from. */
  readonly file?: string
  /** The value must be masked in everything that is recorded. */
  readonly isSecret: boolean
}

interface VariablesOptions {
  /**
   * `every`: all values are secrets. `all`: unless they clearly are not. `named`: only if their names mark them. Values
   * from files always are.
   */
  readonly mask: 'every' | 'all' | 'named'
  /** Returns why a name cannot be used, if it cannot. */
  readonly refuse: (name: string) => string | undefined
}

/** Valid names of variables. */
export const VARIABLE_NAME = /^[A-Za-z_]\w*$/
const PATTERN = /^[A-Za-z_*][\w*]*$/
const SENSITIVE =
  /(^|_)(((api|access|private|secret|auth|license|client)_?)?keys?|pat|pwd|auth|bearer|cookies?|credentials?|pass(word|wd|phrase)?|secrets?|tokens?)(_|\d|$)|(Key|Token|Secret|Password)$/
const isSensitive = (name: string): boolean => SENSITIVE.test(name.toLowerCase()) || SENSITIVE.test(name)
/** Values that are not secret: paths, and addresses without user, path and query. */
const OPEN = /^(\/[^\s:]*(:\/[^\s:]*)*|[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+\/?)$/i
/** Shorter secrets would match too many words of an output. */
const SHORTEST = 4
const SHORTEST_UNNAMED = 8

const isSecret = (name: string, value: string, { mask }: VariablesOptions): boolean => {
  if (mask === 'every') return true
  if (isSensitive(name)) return value.length >= SHORTEST
  return mask === 'all' && value.length >= SHORTEST_UNNAMED && !OPEN.test(value)
}

const checked = (name: string, { refuse }: VariablesOptions): string => {
  if (!VARIABLE_NAME.test(name))
    throw new Error('must have names of letters, digits and _, such as API_KEY=value')
  const problem = refuse(name)
  if (problem !== undefined) throw new Error(`must not have ${name}: ${problem}`)
  return name
}

const fromFile = (name: string, path: string, { folder }: ValueContext): Variable => {
  const file = resolve(folder, path)
  let text: string
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new Error(`names a file for ${name} that cannot be read: ${fileErrorText(error)}`)
  }
  if (text.length < SHORTEST || text.includes('\0'))
    throw new Error(
      `names ${file} for ${name}, which must hold text of at least ${SHORTEST} characters: shorter secrets cannot be masked in outputs`,
    )
  return { name, value: new Secret(text), from: 'file', file, isSecret: true }
}

const variable = (name: string, raw: unknown, context: ValueContext, options: VariablesOptions): Variable => {
  if (typeof raw === 'object' && raw !== null && 'file' in raw && typeof raw.file === 'string')
    return fromFile(name, raw.file, context)
  if (typeof raw === 'number' || typeof raw === 'boolean') {
    const one: Variable = { ...variable(name, String(raw), context, options) }
    return one.isSecret && isSensitive(name) ? one : { ...one, plain: raw, isSecret: false }
  }
  if (typeof raw !== 'string')
    throw new Error(`must have text, a number, true, false or {file: PATH} for ${name}`)
  if (raw.includes('\0')) throw new Error(`must not have a NUL in ${name}`)
  if (/^@[^@]/.test(raw)) return fromFile(name, raw.slice(1), context)
  const text = raw.replace(/^@@/, '@')
  return { name, value: new Secret(text), from: 'settings', isSecret: isSecret(name, text, options) }
}

/** The variables of a name, or of a pattern with `*`. A pattern skips refused names. */
const passed = (pattern: string, { env = {} }: ValueContext, options: VariablesOptions): Variable[] => {
  const one = (name: string): Variable => {
    const value = env[name]
    if (value === undefined) return { name, value, from: 'environment', isSecret: false }
    return { name, value: new Secret(value), from: 'environment', isSecret: isSecret(name, value, options) }
  }
  if (!pattern.includes('*')) return [one(checked(pattern, options))]
  if (!PATTERN.test(pattern)) checked(pattern, options)
  const regex = new RegExp(`^${pattern.replaceAll('*', '.*')}$`)
  const names = Object.keys(env).filter((name) => regex.test(name) && VARIABLE_NAME.test(name))
  return names.filter((name) => options.refuse(name) === undefined).map(one)
}

const parseItem = (item: unknown, context: ValueContext, options: VariablesOptions): Variable[] => {
  if (typeof item === 'object' && item !== null) return parseMap(item, context, options)
  if (typeof item !== 'string') throw new Error('must have items of the form NAME, NAME=value or NAME=@FILE')
  const text = item.trim()
  if (text === '') return []
  const at = text.indexOf('=')
  if (at === -1) return passed(text, context, options)
  return [variable(checked(text.slice(0, at).trim(), options), text.slice(at + 1), context, options)]
}

const parseMap = (map: object, context: ValueContext, options: VariablesOptions): Variable[] =>
  Object.entries(map).flatMap(([name, value]: [string, unknown]) =>
    value === null
      ? passed(name, context, options)
      : [variable(checked(name, options), value, context, options)],
  )

const itemsOf = (raw: unknown): unknown[] => {
  if (Array.isArray(raw)) return raw
  if (typeof raw === 'string') return raw.split(raw.includes('\n') ? '\n' : ',')
  if (typeof raw === 'object' && raw !== null) return [raw]
  throw new Error('must be a list or a map')
}

/** A variable with its secret masked. */
const shown = ({ name, value, file, from, isSecret: hidden, plain }: Variable): string => {
  if (file !== undefined) return `${name}=@${file}`
  if (from === 'environment') return name
  return `${name}=${hidden ? '***' : String(plain ?? value?.reveal() ?? '')}`
}

/**
 * Names with values: a YAML map, or a list of `NAME=value`, `NAME=@file`, and `NAME` to pass on a variable of this
 * program, with `*` as wildcard. A given value overrides one that is passed on.
 */
export const variables = (description: string, options: VariablesOptions): Setting<readonly Variable[]> => ({
  kind: 'map, or list of `NAME=value`',
  description,
  fallback: () => [],
  fallbackText: '[]',
  env: [],
  secret: false,
  secretPath: false,
  secretFiles: (value) => value.flatMap(({ file }) => file ?? []),
  hasSecret: (value) => value.some(({ isSecret: hidden, from }) => hidden && from === 'settings'),
  shown: (value) => value.map(shown),
  parse(raw, context) {
    const found = itemsOf(raw).flatMap((item) => parseItem(item, context, options))
    const byName = new Map<string, Variable>()
    for (const one of found) {
      const before = byName.get(one.name)
      const isExplicit = before !== undefined && before.from !== 'environment'
      if (isExplicit && one.from !== 'environment') throw new Error(`must have ${one.name} only once`)
      if (!isExplicit) byName.set(one.name, one)
    }
    return Object.freeze([...byName.values()])
  },
})
