import type { Param } from '../model.ts'
import { isCallers, piecesOf, Text, textOf, toPlain, type Piece, type Value } from '../template/value.ts'
import { textOfWords } from './text-of-words.ts'
import { booleanOf, typeOf, valueProblem } from './check-value.ts'

/** A value that is invalid for its param. */
export class ParamValueError extends Error {
  override readonly name = 'ParamValueError'
}

const oneWord = (pieces: readonly Piece[]): Text =>
  new Text(pieces.map(({ text, origin }) => ({ text, origin: origin === 'author' ? origin : 'data' })))

/** Texts of the caller and the author are split into words; inserted data stays inside its word. */
const args = (pieces: readonly Piece[]): Text => {
  const [only, ...more] = pieces
  const isWhole = more.length === 0 && only !== undefined && only.origin !== 'data'
  const text = isWhole ? only.text : textOfWords(pieces, ({ origin }) => !['author', 'args'].includes(origin))
  return textOf(text, 'args')
}

/**
 * Converts a value to the type of its param, which decides how the value may be used in a command. Without a type it is
 * unchanged. Throws `ParamValueError` if it is invalid; text by the author alone, which the checker has seen, is accepted
 * by the types that existing workflow files use.
 */
export const typedValue = (param: Param, value: Value): Value => {
  const type = typeOf(param)
  if (type === undefined) return value
  const pieces = piecesOf(value)
  const text = toPlain(value)
  const own = type === 'args' ? args(pieces) : undefined
  const byAuthor = !(value instanceof Text) || pieces.every(({ origin }) => origin === 'author')
  const lenient =
    type === 'bool' ? !pieces.some(isCallers) : type === 'string' || (type === 'int' && byAuthor)
  const problem = lenient ? undefined : valueProblem(param, own === undefined ? text : own.toString())
  if (problem !== undefined) throw new ParamValueError(`param ${param.name}: ${problem}`)
  if (type === 'bool') {
    // Anything else has always meant false.
    return typeof value === 'boolean' ? value : (booleanOf(text) ?? false)
  }
  if (own !== undefined) return own
  if (!(value instanceof Text)) return value
  return type === 'string' || type === 'int' ? oneWord(pieces) : textOf(text, 'data')
}
