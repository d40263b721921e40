import type { OutputStream } from '@scanfarm/contracts'

/** Keeps the beginning of a step's output, up to a number of bytes per stream. */
export class Capture {
  readonly #limit: number
  readonly #chunks: Record<OutputStream, Buffer[]> = { stdout: [], stderr: [] }
  readonly #bytes: Record<OutputStream, number> = { stdout: 0, stderr: 0 }

  constructor(limit: number) {
    this.#limit = limit
  }

  add(stream: OutputStream, chunk: Buffer): void {
    const left = this.#limit - this.#bytes[stream]
    this.#bytes[stream] += chunk.length
    if (left > 0) this.#chunks[stream].push(chunk.length <= left ? chunk : chunk.subarray(0, left))
  }

  isTruncated(stream: OutputStream): boolean {
    return this.#bytes[stream] > this.#limit
  }

  text(stream: OutputStream): string {
    const text = Buffer.concat(this.#chunks[stream]).toString('utf8').replaceAll('\0', '')
    return this.isTruncated(stream) ? `${text}\n[output truncated]` : text
  }

  /** Both streams, stdout first, trimmed. */
  get output(): string {
    return (this.text('stdout') + this.text('stderr')).trim()
  }
}
