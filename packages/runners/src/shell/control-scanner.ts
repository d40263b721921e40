/** A piece of a stream: bytes of the program, or what the shell says about it. */
export type Scanned = { readonly output: Buffer } | { readonly words: readonly string[] }

/** Longest line that the shell says after the nonce. */
const MAX_WORDS = 256
const LINE_END = 0x0a

/**
 * Tells the bytes of a program from the lines of the shell around it, which begin with a nonce that the program cannot
 * know. Bytes that might be the beginning of a nonce wait for the next chunk.
 */
export class ControlScanner {
  readonly #nonce: Buffer
  #held: Buffer = Buffer.alloc(0)

  constructor(nonce: string) {
    this.#nonce = Buffer.from(nonce)
  }

  scan(chunk: Buffer): Scanned[] {
    let rest = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    this.#held = rest.subarray(rest.length)
    const found: Scanned[] = []
    for (;;) {
      const at = rest.indexOf(this.#nonce)
      const output = rest.subarray(0, at < 0 ? this.#safeLength(rest) : at)
      if (output.length > 0) found.push({ output })
      rest = rest.subarray(output.length)
      const end = at < 0 ? -1 : rest.indexOf(LINE_END)
      if (end < 0) break
      found.push({ words: rest.subarray(this.#nonce.length, end).toString().trim().split(' ') })
      rest = rest.subarray(end + 1)
    }
    if (rest.length > this.#nonce.length + MAX_WORDS) throw new Error('the shell said something endless')
    this.#held = rest
    return found
  }

  /** Up to where the bytes cannot belong to a nonce that is not complete yet. */
  #safeLength(bytes: Buffer): number {
    const from = Math.max(0, bytes.length - this.#nonce.length + 1)
    for (let at = from; at < bytes.length; at += 1) {
      if (this.#nonce.subarray(0, bytes.length - at).equals(bytes.subarray(at))) return at
    }
    return bytes.length
  }
}
