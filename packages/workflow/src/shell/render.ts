import type { Piece } from '../template/value.ts'
import { ShellLexer } from './lexer.ts'

/**
 * One shell command out of pieces of different origins: the author's text stays as it is, everything else is escaped
 * for the place where it stands. Throws `UnsafePlaceError` where that is not possible.
 */
export const renderCommand = (pieces: readonly Piece[]): string => {
  if (pieces.every(({ origin }) => origin === 'author')) return pieces.map(({ text }) => text).join('')
  const lexer = new ShellLexer()
  for (const [index, { text, origin }] of pieces.entries()) {
    const next = pieces[index + 1]
    if (origin === 'author') lexer.feed(text)
    else if (origin === 'param') lexer.words(text, next?.text ?? '')
    else if (origin === 'args') lexer.args(text, next?.text ?? '')
    else lexer.value(text, next?.text ?? '')
  }
  return lexer.finish()
}
