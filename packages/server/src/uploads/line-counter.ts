import { Transform } from 'node:stream'

const NEWLINE = 0x0a

/** Passes bytes on and counts lines; a last line without a newline counts too. */
export class LineCounter extends Transform {
  #newlines = 0
  #last = NEWLINE

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error: null, chunk: Buffer) => void,
  ): void {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) this.#newlines += 1
    this.#last = chunk.at(-1) ?? this.#last
    done(null, chunk)
  }

  get lines(): number {
    return this.#newlines + (this.#last === NEWLINE ? 0 : 1)
  }
}
