import { randomUUID } from 'node:crypto'
import type { Json, Piece, Value } from '@scanfarm/language'
import { SHELL_COMMANDS, renderCommand, piecesOf } from '@scanfarm/language'

/**
 * Placeholders for values in an expression that builds a command. The escaping of a value depends on the whole command,
 * so it can only be done when the command is complete. The placeholders cannot occur in texts by chance.
 */
export class ShellValues {
  readonly #values: Value[] = []
  #made: string | undefined

  /** Made on first use: most expressions build no command. */
  get #name(): string {
    return (this.#made ??= randomUUID())
  }

  /** Returns the placeholder of a value. */
  keep(value: Value): string {
    return `\uE000${this.#name}:${this.#values.push(value) - 1}\uE001`
  }

  /**
   * Replaces the placeholders in the arguments of a function: in a command by escaped values, elsewhere by plain ones.
   * Throws `UnsafeContextError` where a value cannot be escaped.
   */
  fill(name: string, args: Json[]): Json[] {
    const command = SHELL_COMMANDS.get(name)
    if (command === undefined) return args
    return args.map((arg, index) => {
      if (typeof arg !== 'string' || (index !== command && !arg.includes(this.#name))) return arg
      const pieces = this.#pieces(arg)
      return index === command ? renderCommand(pieces) : pieces.map(({ text }) => text).join('')
    })
  }

  #pieces(text: string): Piece[] {
    const parts = text.split(new RegExp(`\uE000${this.#name}:(\\d+)\uE001`))
    return parts.flatMap((part, index): readonly Piece[] => {
      if (index % 2 === 0) return part === '' ? [] : [{ text: part, origin: 'author' }]
      return piecesOf(this.#values[Number(part)] ?? null)
    })
  }
}
