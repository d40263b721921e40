import { randomUUID } from 'node:crypto'
import { SHELL_COMMANDS } from '../functions/shell-commands.ts'
import type { Json } from '../model.ts'
import { renderCommand } from '../shell/render.ts'
import type { Around } from '../shell/safety.ts'
import { piecesOf, type Piece, type Value } from '../template/value.ts'

/**
 * Values on their way through an expression into a command. Until the command is whole nobody knows how they have to
 * be escaped, so that marks stand for them, which no text can contain by chance.
 */
export class ShellPlaces {
  readonly #name = randomUUID()
  readonly #values: Value[] = []

  /** The mark that stands for the value. */
  keep(value: Value): string {
    return `\uE000${this.#name}:${this.#values.push(value) - 1}\uE001`
  }

  /**
   * Arguments of a function with the values in them: in a command escaped for the places where they stand, otherwise
   * as they are. Throws `UnsafePlaceError` where a value cannot be made safe.
   */
  fill(name: string, args: Json[], around: Around): Json[] {
    const command = SHELL_COMMANDS.get(name)
    if (command === undefined) return args
    return args.map((arg, index) => {
      if (typeof arg !== 'string' || (index !== command && !arg.includes(this.#name))) return arg
      const pieces = this.#pieces(arg)
      return index === command ? renderCommand(pieces, around) : pieces.map(({ text }) => text).join('')
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
