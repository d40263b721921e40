import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Alias,
  type Document,
  type LineCounter,
  type Node,
  type YAMLMap,
} from 'yaml'
import type { ReadLimits } from '../limits.ts'
import type { Json } from '../model.ts'
import type { Severity } from '../problem.ts'
import type { Hint, ProblemList } from '../problem-list.ts'
import { didYouMean } from '@scanfarm/contracts'
import { isMergeKey, keyText } from './document-index.ts'
import type { Field, FieldType, NumberRange, ObjectSpec } from './field.ts'
import { FORMS, hasForm, NUMBER_TEXT } from './forms.ts'

type Fields = Record<string, unknown>

interface Entry {
  /** Where problems of the key are reported. */
  readonly key: Node
  readonly value: Node | null
}

const NUMBER = new RegExp(NUMBER_TEXT, 'u')
const TRUE = new Set(['true', 'yes', 'on', '1'])
const FALSE = new Set(['false', 'no', 'off', '0'])

/** Thrown when a document exceeds the limits after expansion. Nothing of it is used then. */
class TooBigError extends Error {
  override readonly name = 'TooBigError'
  readonly hint: string

  constructor(message: string, hint = 'Aliases that expand to many copies are refused.') {
    super(message)
    this.hint = hint
  }
}

const isWithin = (value: number, { min, max = Number.MAX_SAFE_INTEGER }: NumberRange): boolean =>
  Number.isInteger(value) && value >= min && value <= max

const isNothing = (node: Node | null | undefined): boolean =>
  node === null || node === undefined || (isScalar(node) && node.value === null)

export interface ReaderOptions {
  readonly file: string
  readonly document: Document.Parsed
  readonly lines: LineCounter
  readonly limits: ReadLimits
  readonly targets: ReadonlyMap<Alias, Node>
  readonly list: ProblemList
}

/**
 * Converts YAML nodes to the model by the field tables. Never throws: an invalid value becomes a problem with
 * its position, and the rest is still read. Unknown keys are warnings.
 */
export class Reader {
  readonly #options: ReaderOptions
  readonly #limits: ReadLimits
  #nodes = 0
  #chars = 0

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#limits = options.limits
  }

  read(spec: ObjectSpec): Fields | undefined {
    try {
      const root = this.#options.document.contents
      if (isMap(root)) return this.#object(root, spec, '', 0)
      this.report(root, 'parse-error', 'error', 'A workflow is a map of keys such as kind, name and steps.')
    } catch (error) {
      if (!(error instanceof TooBigError)) throw error
      this.report(null, 'too-big', 'error', error.message, error.hint)
    }
    return undefined
  }

  report(
    node: Node | null | undefined,
    rule: string,
    severity: Severity,
    message: string,
    hint: Hint = '',
  ): void {
    const { file, lines, list } = this.#options
    list.add(severity, hint, () => {
      const offset = node?.range?.[0]
      const { line, col } = offset === undefined ? { line: 1, col: 1 } : lines.linePos(offset)
      return { file, line, column: col, rule, message }
    })
  }

  #count(depth: number): void {
    this.#nodes++
    if (this.#nodes > this.#limits.nodes) {
      throw new TooBigError(`The file expands to more than ${this.#limits.nodes} values.`)
    }
    if (depth > this.#limits.depth)
      throw new TooBigError(`The file is nested deeper than ${this.#limits.depth} levels.`)
  }

  /** Counts the characters of a text, which an alias can repeat. */
  #countChars(text: string): string {
    this.#chars += text.length
    if (this.#chars > this.#limits.chars)
      throw new TooBigError(`The file expands to more than ${this.#limits.chars} characters.`)
    return text
  }

  #countEntries(items: readonly unknown[], path: string): void {
    const { entries } = this.#limits
    if (items.length > entries)
      throw new TooBigError(
        `${path === '' ? 'The file' : path} has ${items.length} entries; at most ${entries} are possible.`,
        'Split the workflow.',
      )
  }

  #follow(node: unknown): Node | null {
    if (isAlias(node)) return this.#options.targets.get(node) ?? null
    return isMap(node) || isSeq(node) || isScalar(node) ? node : null
  }

  /**
   * The entries of a map with those of its merge keys (`<<: *base`, `<<: [*a, *b]`). Its own entries take precedence,
   * then the map that is named first.
   */
  #entries(map: YAMLMap, path: string, depth: number): Map<string, Entry> {
    this.#count(depth)
    this.#countEntries(map.items, path)
    const entries = new Map<string, Entry>()
    const merged: Node[] = []
    for (const { key, value } of map.items) {
      const node = this.#follow(value)
      if (!isMergeKey(key)) entries.set(keyText(key), { key: isScalar(key) ? key : map, value: node })
      else if (isSeq(node)) merged.push(...node.items.flatMap((item) => this.#follow(item) ?? []))
      else if (node !== null) merged.push(node)
    }
    for (const from of merged) {
      if (!isMap(from)) {
        this.#wrong(from, path === '' ? '<<' : `${path}.<<`, 'a map, or a list of maps')
        continue
      }
      for (const [key, entry] of this.#entries(from, path, depth + 1))
        if (!entries.has(key)) entries.set(key, entry)
    }
    return entries
  }

  #object(node: YAMLMap, spec: ObjectSpec, path: string, depth: number): Fields {
    const fields: Fields = {}
    const entries = this.#entries(node, path, depth)
    for (const [key, entry] of entries) {
      const field = Object.hasOwn(spec.fields, key) ? spec.fields[key] : undefined
      const where = path === '' ? key : `${path}.${key}`
      if (field === undefined) {
        // The usual place of maps that are only named by aliases.
        if (path === '' && key.startsWith('x-')) continue
        this.report(
          entry.key,
          'unknown-key',
          'warning',
          `${spec.name === 'workflow' ? 'A workflow' : `"${spec.name}"`} has no key "${key}"; it is ignored.`,
          () => didYouMean(key, Object.keys(spec.fields)),
        )
        continue
      }
      const value = this.#value(entry.value, field.type, where, depth + 1)
      if (value !== undefined) fields[key] = value
    }
    for (const key of Object.keys(spec.fields)) {
      const field = spec.fields[key]
      if (field === undefined || (field.required ?? false) === false || fields[key] !== undefined) continue
      // A value of the wrong type has already been reported.
      if (isNothing(entries.get(key)?.value)) this.#missing(node, spec, path, key, field)
    }
    return fields
  }

  #missing(node: Node, spec: ObjectSpec, path: string, key: string, { required }: Field): void {
    const what = path === '' ? spec.name : path
    if (required === 'wanted')
      return this.report(node, 'missing-field', 'warning', `${what} has no "${key}"; it is ignored.`)
    this.report(node, 'missing-field', 'error', `${what} needs "${key}".`)
  }

  /** Undefined means "not given": an empty value in YAML is the same as a missing key. */
  #value(node: Node | null, type: FieldType, path: string, depth: number): unknown {
    if (node === null || isNothing(node)) return undefined
    this.#count(depth)
    switch (type.kind) {
      case 'text':
        return this.#text(node, type, path)
      case 'flag':
        return this.#flag(node, path)
      case 'number':
        return this.#number(node, type, path)
      case 'json':
        return this.#json(node, type, path, depth)
      case 'list':
        return this.#list(node, type, path, depth)
      case 'map':
        return this.#map(node, type.of, path, depth)
      case 'object':
        if (isMap(node)) return this.#object(node, type.spec(), path, depth)
        if (type.shorthand !== undefined && isScalar(node)) {
          const inner = type.spec().fields[type.shorthand]
          if (inner !== undefined) return { [type.shorthand]: this.#value(node, inner.type, path, depth + 1) }
        }
        return this.#wrong(node, path, 'a map')
    }
  }

  #wrong(node: Node, path: string, wanted: string): undefined {
    this.report(node, 'wrong-type', 'error', `${path} must be ${wanted}.`)
  }

  #text(
    node: Node,
    { oneOf, form, lenient = false }: FieldType & { kind: 'text' },
    path: string,
  ): string | undefined {
    if (!isScalar(node)) return this.#wrong(node, path, 'a text')
    const text = typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))
    if (oneOf !== undefined && !oneOf.includes(text)) {
      this.report(
        node,
        'wrong-value',
        lenient ? 'warning' : 'error',
        `invalid ${path.split('.').at(-1) ?? path}: ${text}, must be ${oneOf.map((word) => `'${word}'`).join(' or ')}`,
        () => didYouMean(text, oneOf),
      )
      return undefined
    }
    if (form !== undefined && !hasForm(text, form))
      this.report(
        node,
        'wrong-form',
        'error',
        `'${text}' is not ${FORMS[form].what}`,
        `For example: ${FORMS[form].example}`,
      )
    return this.#countChars(text)
  }

  #flag(node: Node, path: string): boolean | undefined {
    const text = isScalar(node) ? String(node.value).toLowerCase() : ''
    if (TRUE.has(text)) return true
    if (FALSE.has(text)) return false
    return this.#wrong(node, path, 'true or false')
  }

  #number(node: Node, { whole }: FieldType & { kind: 'number' }, path: string): number | undefined {
    const raw = isScalar(node) ? node.value : undefined
    const value =
      typeof raw === 'number' || (typeof raw === 'string' && NUMBER.test(raw)) ? Number(raw) : Number.NaN
    if (!Number.isFinite(value)) return this.#wrong(node, path, 'a number')
    if (whole !== undefined && !isWithin(value, whole)) {
      const range = whole.max === undefined ? `${whole.min} on` : `${whole.min} to ${whole.max}`
      this.report(node, 'wrong-form', 'error', `${path} must be a whole number from ${range}`)
    }
    return value
  }

  #json(node: Node | null, type: FieldType & { kind: 'json' }, path: string, depth: number): Json {
    this.#count(depth)
    const inner = (item: Node | null) => this.#json(item, type, path, depth + 1)
    if (isSeq(node)) return node.items.map((item) => inner(this.#follow(item)))
    if (isMap(node)) {
      const entries = [...this.#entries(node, path, depth)]
      return Object.fromEntries(entries.map(([key, { value }]) => [key, inner(value)]))
    }
    const value = isScalar(node) ? node.value : null
    if (typeof value === 'string') return this.#countChars(value)
    if (typeof value === 'boolean' || value === null) return value
    if (typeof value === 'number') {
      const written = isScalar(node) ? (node.source ?? String(value)) : ''
      const isExact = Number.isFinite(value) && (type.asWritten !== true || String(value) === written)
      return isExact ? value : this.#countChars(type.asWritten === true ? written : String(value))
    }
    return typeof value === 'bigint' ? value.toString() : (JSON.stringify(value) ?? null)
  }

  #list(node: Node, type: FieldType & { kind: 'list' }, path: string, depth: number): unknown[] | undefined {
    if (isSeq(node)) {
      this.#countEntries(node.items, path)
      return node.items.flatMap((item, index) => {
        const value = this.#value(this.#follow(item), type.of, `${path}[${index}]`, depth + 1)
        return value === undefined ? [] : [value]
      })
    }
    if (isScalar(node) && type.comma === true) {
      return String(node.value)
        .split(',')
        .flatMap((word) => (word.trim() === '' ? [] : [word.trim()]))
    }
    if (isScalar(node) && (type.of.kind === 'text' || type.of.kind === 'number')) {
      if (node.value === '') return []
      const value = this.#value(node, type.of, path, depth + 1)
      return value === undefined ? undefined : [value]
    }
    if (isScalar(node) && type.of.kind === 'object' && type.of.shorthand !== undefined) {
      return [this.#value(node, type.of, path, depth + 1)]
    }
    return this.#wrong(node, path, 'a list')
  }

  #map(node: Node, of: FieldType, path: string, depth: number): Fields | undefined {
    if (!isMap(node)) return this.#wrong(node, path, 'a map')
    const fields: Fields = {}
    for (const [key, { value: item }] of this.#entries(node, path, depth)) {
      // Empty texts are values here: `default: ""` in a map of params.
      const value =
        item === null && of.kind === 'text' ? '' : this.#value(item, of, `${path}.${key}`, depth + 1)
      if (value !== undefined) fields[key] = value
    }
    return fields
  }
}
