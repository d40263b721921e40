import { rejoined } from './read-body.ts'

/** Most bytes of a line, and of a piece of a report, that are read in this process: they take a few milliseconds. */
export const MAX_INLINE = 64 * 1024

const LF = 10
const CR = 13
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** Whether a report begins with a whole line that is one object. */
export const beginsWithObject = (head: Uint8Array): boolean => {
  const [first = ''] = Buffer.from(head).toString('utf8').split('\n', 1)
  if (!first.startsWith('{') || first.length >= head.length) return false
  try {
    return typeof JSON.parse(first) === 'object'
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
      const end = this.#endOfLines(block)
      if (end > 0) yield block.subarray(0, end)
      this.#open = block.subarray(end)
      if (this.#open.includes(LF) || this.#open.length > MAX_INLINE) return
    }
    if (this.#open.length > 0) yield this.#open
    this.areAll = true
  }

  /** The other lines. An empty list, which is no record, and empty lines stand for the first ones. */
  async *rest(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('[]')
    for (let left = this.#count; left > 0; left -= MAX_INLINE)
      yield Buffer.alloc(Math.min(left, MAX_INLINE), LF)
    yield* rejoined([this.#open], this.#body)
  }

  #endOfLines(block: Uint8Array): number {
    let from = 0
    for (let end = block.indexOf(LF); end >= 0; end = block.indexOf(LF, from)) {
      const last = block[end - 1] === CR ? end - 2 : end - 1
      const isObject = block[from] === OPEN_OBJECT && block[last] === CLOSE_OBJECT
      if ((!isObject && last >= from) || end - from > MAX_INLINE) return from
      this.#count += 1
      from = end + 1
    }
    return from
  }
}
