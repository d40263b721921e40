import type { Json } from '../model.ts'
import { TemplateError } from './expression.ts'

/**
 * The origin of a piece of text, which decides how it may be used in a shell command. The author may write shell
 * code. A caller's text is `args` if its param has that type: arguments by the quoting rules of a shell. It is `param`
 * if its param has no type, and is split at blanks in safe positions only; `caller` is the same without splitting. `data`
 * (targets, outputs, files, and all other types) is always one word.
 */
export type Origin = 'author' | 'args' | 'param' | 'caller' | 'data'

/** In order of trust, least trusted first. */
const BY_TRUST = ['data', 'caller', 'param', 'args'] as const

export const isCallers = ({ origin }: Piece): boolean => ['args', 'param', 'caller'].includes(origin)

export interface Piece {
  readonly text: string
  readonly origin: Origin
  /** The source of the hole, for messages. */
  readonly name?: string
}

/** A text that keeps the origin of each part through defaults, exports and params of modules. */
export class Text {
  readonly pieces: readonly Piece[]

  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces
  }

  toString(): string {
    const [only, ...more] = this.pieces
    if (more.length === 0) return only?.text ?? ''
    return this.pieces.map(({ text }) => text).join('')
  }
}

/** The value of a variable. Everything but `Text` is data. */
export type Value = Text | boolean | number | null | readonly Json[] | { readonly [key: string]: Json }

/** Maximum number of characters of a rendered text. */
export const MAX_TEXT = 1 << 24
/** Maximum number of parts with different origins in one text. */
const MAX_PIECES = 10_000

/** Joins two texts. Throws if the result exceeds the limits. */
export const joined = (left: Value, right: Value): Text => {
  const pieces = [...piecesOf(left)]
  for (const piece of piecesOf(right)) {
    const last = pieces.at(-1)
    // A caller's texts are not merged: each is split into words separately.
    if (last?.origin !== piece.origin || isCallers(piece)) pieces.push(piece)
    else pieces[pieces.length - 1] = { text: last.text + piece.text, origin: piece.origin }
  }
  const size = pieces.reduce((sum, { text }) => sum + text.length, 0)
  if (size > MAX_TEXT || pieces.length > MAX_PIECES) throw tooLong()
  return new Text(pieces)
}

export const tooLong = (): TemplateError =>
  new TemplateError(`a text of a template may have at most ${MAX_TEXT} characters in ${MAX_PIECES} parts`, 0)

export const textOf = (text: string, origin: Origin): Text => new Text([{ text, origin }])
export const data = (text: string): Text => textOf(text, 'data')
export const authored = (text: string): Text => textOf(text, 'author')

export const fromJson = (json: Json, origin: Origin = 'data'): Value =>
  typeof json === 'string' ? textOf(json, origin) : json

export const toJson = (value: Value): Json =>
  value instanceof Text ? value.toString() : (value as Exclude<Json, string>)

/** The rendered form: lists and objects as JSON, an empty text for null. */
export const toPlain = (value: Value): string => {
  if (value instanceof Text) return value.toString()
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export const piecesOf = (value: Value): readonly Piece[] =>
  value instanceof Text ? value.pieces : [{ text: toPlain(value), origin: 'data' }]

/** The least trusted origin: the origin of a computation over several values. */
export const originOf = (values: readonly Value[]): Origin => {
  const origins = values.flatMap((value): Origin[] => {
    if (value instanceof Text) return value.pieces.map(({ origin }) => origin)
    return typeof value === 'object' && value !== null ? ['data'] : []
  })
  return BY_TRUST.find((origin) => origins.includes(origin)) ?? 'author'
}

/** The truth of a value in conditions: the texts `false`, `0` and `""` are false. */
export const isTruthy = (value: Value): boolean => {
  if (value instanceof Text)
    return !['', 'false', '0', 'null', 'undefined'].includes(value.toString().trim().toLowerCase())
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** Longer texts are not read as numbers. */
const MAX_DIGITS = 400

/** Converts a text in decimal notation to a number. */
export const asNumber = (value: Value): number | undefined => {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (!(value instanceof Text)) return undefined
  const text = value.toString()
  if (text.length > MAX_DIGITS) return undefined
  return /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(text.trim()) ? Number(text) : undefined
}
