import { rejoined } from './read-body.ts'

/** Most bytes of a line, and of a piece of a report, that are read in this process: they take a few milliseconds. */
export const MAX_INLINE = 64 * 1024

const LF = 10
/** Objects of one line each, and blank lines. */
const OBJECTS = /^(?:\{.*\}\r?\n|\r?\n)*/

/** Whether a report begins with a whole line that is one object. */
export const beginsWithObject = (head: Uint8Array): boolean => {
  try {
    JSON.parse(/^\{.*\}\r?\n/.exec(Buffer.from(head).toString('utf8'))?.[0] ?? '')
    return true
  } catch {
    return false
  }
}

/** The first lines of a body: all up to one that is long, or is neither blank nor an object. */
export class ObjectLines {
  /** Whether the body has no other lines. */
  areAll = false
  readonly #body: AsyncIterator<Uint8Array>
  #count = 0
  /** What was read and does not belong to them. */
  #open: Uint8Array = new Uint8Array()

  constructor(body: AsyncIterator<Uint8Array>) {
    this.#body = body
  }

  async *read(): AsyncGenerator<Uint8Array> {
    for (let next = await this.#body.next(); next.done !== true; next = await this.#body.next()) {
      const block = Buffer.concat([this.#open, next.value])
      const [objects = ''] = OBJECTS.exec(block.toString('latin1')) ?? []
      this.#count += objects.split('\n').length - 1
      yield block.subarray(0, objects.length)
      this.#open = block.subarray(objects.length)
      if (this.#open.includes(LF) || this.#open.length > MAX_INLINE) return
    }
    this.areAll = true
    yield this.#open
  }

  /** The other lines. An empty list, which is no record, and empty lines stand for the first ones. */
  async *rest(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('[]')
    for (let left = this.#count; left > 0; left -= MAX_INLINE)
      yield Buffer.alloc(Math.min(left, MAX_INLINE), LF)
    yield* rejoined([this.#open], this.#body)
  }
}
