/** A part of a stream: output of the program, or the words of a status line of the shell. */
export type ScannedPart = { readonly output: Buffer } | { readonly words: readonly string[] }

/** Longest status line after the nonce. */
const MAX_STATUS = 256
const LINE_END = 0x0a

/**
 * Separates the output of a program from the status lines of the shell that runs it. Status lines begin with a nonce
 * that the program cannot know. Bytes that may be the beginning of a nonce are held until the next chunk.
 */
export class StatusScanner {
  readonly #nonce: Buffer
  #partial: Buffer = Buffer.alloc(0)

  constructor(nonce: string) {
    this.#nonce = Buffer.from(nonce)
  }

  scan(chunk: Buffer): ScannedPart[] {
    let rest = this.#partial.length > 0 ? Buffer.concat([this.#partial, chunk]) : chunk
    this.#partial = rest.subarray(rest.length)
    const found: ScannedPart[] = []
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
    if (rest.length > this.#nonce.length + MAX_STATUS)
      throw new Error(`a status line of the shell is longer than ${MAX_STATUS} bytes`)
    this.#partial = rest
    return found
  }

  /** Length of the bytes before a possible, incomplete nonce. */
  #safeLength(bytes: Buffer): number {
    const from = Math.max(0, bytes.length - this.#nonce.length + 1)
    for (let at = from; at < bytes.length; at += 1) {
      if (this.#nonce.subarray(0, bytes.length - at).equals(bytes.subarray(at))) return at
    }
    return bytes.length
  }
}
