import { storable } from './storable.ts'

const MAX_CHUNKS = 256

/** The last bytes of a stream, kept in less than twice their memory. */
export class OutputTail {
  readonly #limit: number
  #chunks: Buffer[] = []
  #held = 0
  #total = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  /** Bytes ever written. */
  get total(): number {
    return this.#total
  }

  /** Nothing has been dropped yet. */
  get whole(): boolean {
    return this.#total <= this.#limit
  }

  push(chunk: Buffer): void {
    this.#total += chunk.length
    const replaces = chunk.length >= this.#limit
    if (replaces) this.#chunks = []
    // A copy, for a short chunk may be a part of a large buffer and would hold it.
    this.#chunks.push(Buffer.from(chunk.subarray(-this.#limit)))
    this.#held = replaces ? this.#limit : this.#held + chunk.length
    if (this.#held > this.#limit * 2 || this.#chunks.length > MAX_CHUNKS) this.#compact()
  }

  /** What is held now, at most the limit. */
  bytes(): Buffer {
    this.#compact()
    return this.#chunks[0] ?? Buffer.alloc(0)
  }

  /** As text that Postgres takes: valid UTF-8 of at most the limit in bytes, whole characters, no NUL. */
  text(): string {
    if (this.#total === 0) return ''
    const bytes = this.bytes()
    const text = storable(bytes.subarray(this.whole ? 0 : firstCharacter(bytes)).toString('utf8'))
    const encoded = Buffer.byteLength(text)
    if (encoded <= this.#limit) return text
    // Each byte that was no UTF-8 has become a sign of three.
    const longer = Buffer.from(text)
    const tail = longer.subarray(longer.length - this.#limit)
    return tail.subarray(firstCharacter(tail)).toString('utf8')
  }

  #compact(): void {
    if (this.#chunks.length <= 1 && this.#held <= this.#limit) return
    const all = Buffer.concat(this.#chunks)
    const rest = Buffer.from(all.subarray(-this.#limit))
    this.#chunks = [rest]
    this.#held = rest.length
  }
}

/** Where the first character begins in bytes that were cut somewhere. */
const firstCharacter = (bytes: Buffer): number => {
  const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80
  let start = 0
  while (start < 3 && isContinuation(bytes[start])) start += 1
  return start
}
