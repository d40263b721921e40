import type { Param } from '../model.ts'
import { textOfWords } from '../shell/words.ts'
import { isCallers, piecesOf, Text, textOf, toPlain, type Piece, type Value } from '../template/value.ts'
import { booleanOf, typeOf, valueProblem } from './check-value.ts'

/** A value that its param does not take. */
export class ParamValueError extends Error {
  override readonly name = 'ParamValueError'
}

const oneWord = (pieces: readonly Piece[]): Text =>
  new Text(pieces.map(({ text, origin }) => ({ text, origin: origin === 'author' ? origin : 'data' })))

/** A caller's whole text is words, and so is the author's; what is put into it stays in the word where it stands. */
const args = (pieces: readonly Piece[]): Text => {
  const [only, ...more] = pieces
  const isWhole = more.length === 0 && only !== undefined && only.origin !== 'data'
  const text = isWhole ? only.text : textOfWords(pieces, ({ origin }) => !['author', 'args'].includes(origin))
  return textOf(text, 'args')
}

/**
 * The value as a value of the param: what it may do in a command follows from the type. Without a type it stays what
 * it was. Throws `ParamValueError` when it does not fit; text of the author alone, which the checker has seen, is taken
 * as ever by the types that files of the established kind have.
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
    // What is neither was false always.
    return typeof value === 'boolean' ? value : (booleanOf(text) ?? false)
  }
  if (own !== undefined) return own
  if (!(value instanceof Text)) return value
  return type === 'string' || type === 'int' ? oneWord(pieces) : textOf(text, 'data')
}
