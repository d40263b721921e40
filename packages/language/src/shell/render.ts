import type { Piece } from '../template/value.ts'
import { functionsOf } from './argument-position.ts'
import { ShellLexer } from './lexer.ts'
import { EMPTY_ENVIRONMENT, refuseCode, type CommandEnvironment } from './safety.ts'

/**
 * Renders one shell command from pieces of different origins: the author's text is unchanged, everything else is escaped
 * for its quoting context. Throws `UnsafeContextError` if that is not possible, or if an interpreter would
 * read a value as code.
 */
export const renderCommand = (
  pieces: readonly Piece[],
  around: CommandEnvironment = EMPTY_ENVIRONMENT,
): string => {
  if (pieces.every(({ origin }) => origin === 'author')) {
    refuseCode(pieces, [], around)
    return pieces.map(({ text }) => text).join('')
  }
  const own = pieces.filter(({ origin }) => origin === 'author').map(({ text }) => text)
  const lexer = new ShellLexer(functionsOf(own.join('\0')))
  const nestings: number[] = []
  for (const [index, { text, origin }] of pieces.entries()) {
    const next = pieces[index + 1]
    if (origin === 'author') lexer.feed(text)
    else if (origin === 'param') lexer.words(text, next?.text ?? '')
    else if (origin === 'args') lexer.args(text, next?.text ?? '')
    else lexer.value(text, next?.text ?? '')
    nestings[index] = origin === 'author' ? 0 : lexer.nesting
  }
  const command = lexer.finish()
  refuseCode(pieces, nestings, around)
  return command
}
