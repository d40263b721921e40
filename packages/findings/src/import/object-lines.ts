import { isJson } from '../content.ts'
import { rejoined } from './read-body.ts'

/** Most bytes of a line, and of a piece of a report, that are read in this process: they take a few milliseconds. */
export const MAX_INLINE = 64 * 1024

/** Objects of one line each, and blank lines. */
const OBJECTS = /^(?:\{.*\}\r?\n|\r?\n)*/

/** Whether a report begins with a whole line that is one object. */
export const beginsWithObject = (head: Uint8Array): boolean =>
  isJson(/^\{.*\}\r?\n/.exec(Buffer.from(head).toString('utf8'))?.[0] ?? '-')

/** The first lines of a body: all up to one that is long, or is neither blank nor an object. */
export class ObjectLines {
  /** Whether the body has no other lines. */
  areAll = false
  #count = 0
  /** What was read and does not belong to them. */
  #open = Buffer.alloc(0)

  async *read(body: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
    for (let next = await body.next(); next.done !== true; next = await body.next()) {
      const block = Buffer.concat([this.#open, next.value])
      const [objects = ''] = OBJECTS.exec(block.toString('latin1')) ?? []
      this.#count += objects.split('\n').length - 1
      yield block.subarray(0, objects.length)
      this.#open = block.subarray(objects.length)
      if (this.#open.includes('\n') || this.#open.length > MAX_INLINE) return
    }
    this.areAll = true
    yield this.#open
  }

  /** The other lines. An empty list, which is no record, and empty lines stand for the first ones. */
  async *rest(body: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield Buffer.from('[]')
    for (let left = this.#count; left > 0; left -= MAX_INLINE)
      yield Buffer.alloc(Math.min(left, MAX_INLINE), '\n')
    yield* rejoined([this.#open], body)
  }
}
