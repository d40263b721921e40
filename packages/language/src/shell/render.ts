import type { Piece } from '../template/value.ts'
import { functionsOf } from './argument-position.ts'
import { ShellLexer } from './lexer.ts'

/**
 * Renders one shell command from pieces of different origins: the author's text is unchanged, everything else is escaped
 * for its quoting context. Throws `UnsafeContextError` if that is not possible, or if a value would become code or an
 * option.
 */
export const renderCommand = (pieces: readonly Piece[]): string => {
  const own = pieces.filter(({ origin }) => origin === 'author').map(({ text }) => text)
  if (own.length === pieces.length) return own.join('')
  const lexer = new ShellLexer({ functions: functionsOf(own.join('\0')) })
  for (const [index, { text, origin, name = 'value' }] of pieces.entries()) {
    if (origin === 'author') lexer.feed(text)
    else lexer.value(text, pieces[index + 1]?.text, name, origin)
  }
  return lexer.finish()
}
