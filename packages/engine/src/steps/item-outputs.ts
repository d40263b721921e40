import { Capture } from '../runner/capture.ts'

/** Joins the outputs of items in the order of the items, whatever the order of their ends, up to a number of bytes. */
export class ItemOutputs {
  readonly #limit: number
  /** In the order of the items. Outputs behind the limit are dropped. */
  readonly #kept: { readonly index: number; readonly chunk: Buffer }[] = []
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Whether the output is within the limit so far. */
  add(index: number, text: string): boolean {
    const chunk = Buffer.from(text)
    let at = this.#kept.length
    while ((this.#kept[at - 1]?.index ?? -1) > index) at--
    this.#kept.splice(at, 0, { index, chunk })
    this.#bytes += chunk.length
    for (let last = this.#kept.at(-1); last !== undefined; last = this.#kept.at(-1)) {
      const before = this.#bytes - last.chunk.length
      if (before <= this.#limit) break
      this.#kept.pop()
      this.#bytes = before
    }
    return at < this.#kept.length
  }

  get entries(): (readonly [index: number, text: string])[] {
    return this.#kept.map(({ index, chunk }) => [index, chunk.toString()])
  }

  get text(): string {
    const capture = new Capture(this.#limit)
    for (const { chunk } of this.#kept) capture.add('stdout', chunk)
    return capture.output
  }
}
