import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Secret } from '../secret.ts'
import { fileErrorText } from '../file-error.ts'
import type { Place, Setting } from './setting.ts'

/** A named value that the operator gives to runs. */
export interface Variable {
  readonly name: string
  /** Missing: it is to be passed on from the environment of this program, which does not have it. */
  readonly value: Secret | undefined
  /** The value where YAML has a number or a boolean. */
  readonly plain?: number | boolean
  readonly from: 'settings' | 'environment' | 'file'
  /** Where it was read from. */
  readonly file?: string
  /** It must not appear in what is recorded of runs. */
  readonly isSecret: boolean
}

interface VariablesOptions {
  /** Values are secrets unless they are plainly none, or where their names say so; those from files always are. */
  readonly mask: 'all' | 'named'
  /** Why a name cannot be used, or nothing. */
  readonly refuse: (name: string) => string | undefined
}

const NAME = /^[A-Za-z_]\w*$/
const PATTERN = /^[A-Za-z_*][\w*]*$/
const TELLING =
  /(^|_)(((api|access|private|secret|auth|license|client)_?)?keys?|pat|pwd|auth|bearer|cookies?|credentials?|pass(word|wd|phrase)?|secrets?|tokens?)(_|\d|$)|(Key|Token|Secret|Password)$/
const isTelling = (name: string): boolean => TELLING.test(name.toLowerCase()) || TELLING.test(name)
/** Paths, and addresses without user, path and query. */
const OPEN = /^(\/[^\s:]*(:\/[^\s:]*)*|[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+\/?)$/i
/** A shorter one would be found in too many words of an output. */
const SHORTEST = 4
const SHORTEST_UNNAMED = 8

const isSecret = (name: string, value: string, { mask }: VariablesOptions): boolean => {
  if (isTelling(name)) return value.length >= SHORTEST
  return mask === 'all' && value.length >= SHORTEST_UNNAMED && !OPEN.test(value)
}

const checked = (name: string, { refuse }: VariablesOptions): string => {
  if (!NAME.test(name)) throw new Error('must have names of letters, digits and _, such as API_KEY=value')
  const problem = refuse(name)
  if (problem !== undefined) throw new Error(`must not have ${name}: ${problem}`)
  return name
}

const fromFile = (name: string, path: string, { folder }: Place): Variable => {
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

const given = (name: string, raw: unknown, place: Place, options: VariablesOptions): Variable => {
  if (typeof raw === 'object' && raw !== null && 'file' in raw && typeof raw.file === 'string')
    return fromFile(name, raw.file, place)
  if (typeof raw === 'number' || typeof raw === 'boolean') {
    const one: Variable = { ...given(name, String(raw), place, options) }
    return one.isSecret && isTelling(name) ? one : { ...one, plain: raw, isSecret: false }
  }
  if (typeof raw !== 'string')
    throw new Error(`must have text, a number, true, false or {file: PATH} for ${name}`)
  if (raw.includes('\0')) throw new Error(`must not have a NUL in ${name}`)
  if (/^@[^@]/.test(raw)) return fromFile(name, raw.slice(1), place)
  const text = raw.replace(/^@@/, '@')
  return { name, value: new Secret(text), from: 'settings', isSecret: isSecret(name, text, options) }
}

/** A name, or a pattern with `*`, whose refused names are left out. */
const passed = (pattern: string, { env = {} }: Place, options: VariablesOptions): Variable[] => {
  const one = (name: string): Variable => {
    const value = env[name]
    if (value === undefined) return { name, value, from: 'environment', isSecret: false }
    return { name, value: new Secret(value), from: 'environment', isSecret: isSecret(name, value, options) }
  }
  if (!pattern.includes('*')) return [one(checked(pattern, options))]
  if (!PATTERN.test(pattern)) checked(pattern, options)
  const regex = new RegExp(`^${pattern.replaceAll('*', '.*')}$`)
  const names = Object.keys(env).filter((name) => regex.test(name) && NAME.test(name))
  return names.filter((name) => options.refuse(name) === undefined).map(one)
}

const parseItem = (item: unknown, place: Place, options: VariablesOptions): Variable[] => {
  if (typeof item === 'object' && item !== null) return parseMap(item, place, options)
  if (typeof item !== 'string') throw new Error('must have items of the form NAME, NAME=value or NAME=@FILE')
  const text = item.trim()
  if (text === '') return []
  const at = text.indexOf('=')
  if (at === -1) return passed(text, place, options)
  return [given(checked(text.slice(0, at).trim(), options), text.slice(at + 1), place, options)]
}

const parseMap = (map: object, place: Place, options: VariablesOptions): Variable[] =>
  Object.entries(map).flatMap(([name, value]: [string, unknown]) =>
    value === null ? passed(name, place, options) : [given(checked(name, options), value, place, options)],
  )

const itemsOf = (raw: unknown): unknown[] => {
  if (Array.isArray(raw)) return raw
  if (typeof raw === 'string') return raw.split(raw.includes('\n') ? '\n' : ',')
  if (typeof raw === 'object' && raw !== null) return [raw]
  throw new Error('must be a list or a map')
}

/** What people may see of one. */
const shown = ({ name, value, file, from, isSecret: hidden, plain }: Variable): string => {
  if (file !== undefined) return `${name}=@${file}`
  if (from === 'environment') return name
  return `${name}=${hidden ? '***' : String(plain ?? value?.reveal() ?? '')}`
}

/**
 * Names with values: a YAML map or a list of `NAME=value`, `NAME=@file`, and `NAME` for that of this program's own
 * environment, with `*` as wildcard. What is given wins over what is passed on.
 */
export const variables = (description: string, options: VariablesOptions): Setting<readonly Variable[]> => ({
  kind: 'map, or list of `NAME=value`',
  description,
  fallback: () => [],
  fallbackText: '[]',
  env: [],
  secret: false,
  secretPath: false,
  secretFile: false,
  shown: (value) => value.map(shown),
  parse(raw, place) {
    const found = itemsOf(raw).flatMap((item) => parseItem(item, place, options))
    const byName = new Map<string, Variable>()
    for (const one of found) {
      const before = byName.get(one.name)
      const isGiven = before !== undefined && before.from !== 'environment'
      if (isGiven && one.from !== 'environment') throw new Error(`must have ${one.name} only once`)
      if (!isGiven) byName.set(one.name, one)
    }
    return Object.freeze([...byName.values()])
  },
})

const OWN = /^(SCANFARM_.*|(DATABASE|REDIS)_URL(_FILE)?)$/
const SHELL =
  /^(LD_.*|DYLD_.*|GCONV_PATH|BASH_ENV|ENV|BASHOPTS|SHELLOPTS|BASH_FUNC.*|PS[0-4]|PROMPT_COMMAND|IFS|CDPATH|GLOBIGNORE|POSIXLY_CORRECT)$/
const OTHER_SETTINGS: Readonly<Record<string, string>> = {
  PATH: 'set runner.path or folders.binaries',
  HOME: 'set runner.home',
  TMPDIR: 'each attempt has its own',
  PWD: 'commands start in the folder of the workspace',
}

/** Names that commands must not get from the settings. */
export const refusedForCommands = (name: string): string | undefined => {
  if (OWN.test(name)) return 'it belongs to this program and may hold its own secrets'
  if (SHELL.test(name)) return 'it changes what shells and programs do with values that are escaped for them'
  return OTHER_SETTINGS[name]
}

/** Why `runner.env` cannot have a variable of this name, or nothing. */
export const commandVariableProblem = (name: string): string | undefined =>
  NAME.test(name) ? refusedForCommands(name) : 'names are of letters, digits and _'

const FACTS = ['Target', 'target', 'Output', 'RunUUID', 'DBRunID', 'TempDir']

/** Names that workflows must not get from the settings. */
export const refusedForWorkflows = (name: string): string | undefined =>
  FACTS.includes(name) ? 'every run has its own' : undefined
