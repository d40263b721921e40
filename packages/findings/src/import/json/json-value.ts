import { MAX_DEPTH, MAX_RECORD } from '../read-body.ts'
import type { Pattern } from './patterns.ts'

export const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 0xfeff

/** The problem of a line outside of documents. */
export const NO_JSON = 'a line of text that is no JSON'

export const SCALAR = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

/** A list or object whose parts are read one by one. */
export interface Level {
  readonly pattern: Pattern | undefined
  readonly isList: boolean
  readonly line: number
  index: number
  /** The key of an object whose value comes next. */
  key: string | undefined
}

/** A token or value that has begun: a string, a word (a number, `true`, text that is no JSON), or a list or object. */
export interface Value {
  readonly kind: 'string' | 'word' | 'nested' | 'line'
  /** A key of an object, not a value. */
  readonly isKey: boolean
  readonly pattern: Pattern | undefined
  readonly line: number
  /** Text of earlier pieces, and its length. */
  parts: string[]
  length: number
  problem?: string
}

export const keyOf = (text: string): string => {
  try {
    return String(JSON.parse(text))
  } catch {
    return text.slice(1, -1)
  }
}

const CR = 13
const CLOSE_OBJECT = 125

/**
 * The object that a line consists of, and where the line ends. It is read at once, which is much faster than to look for its
 * end character by character. Undefined: the text does not contain the whole line, or it is not just one object.
 */
export const objectOfLine = (
  text: string,
  from: number,
): { readonly value: unknown; readonly end: number } | undefined => {
  const end = text.indexOf('\n', from)
  const last = text.charCodeAt(end - 1) === CR ? end - 2 : end - 1
  if (end < 0 || end - from > MAX_RECORD || text.charCodeAt(last) !== CLOSE_OBJECT) return undefined
  try {
    const value: unknown = JSON.parse(text.slice(from, end))
    return isDeeper(value, MAX_DEPTH) ? undefined : { value, end }
  } catch {
    return undefined
  }
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)))
