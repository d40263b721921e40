import { Readable } from 'node:stream'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** The run's own log: what its author and the engine had to say. Held in memory up to a bound, then counted. */
export class RunLog {
  readonly #limit: number
  readonly #lines: string[] = []
  #bytes = 0
  #dropped = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  get empty(): boolean {
    return this.#lines.length === 0
  }

  add(at: Date, level: LogLevel, text: string): void {
    const line = `${at.toISOString()} ${level.toUpperCase().padEnd(5)} ${text.replaceAll(/\r?\n/g, '\n  ')}\n`
    const bytes = Buffer.byteLength(line)
    if (this.#bytes + bytes > this.#limit) this.#dropped += 1
    else {
      this.#bytes += bytes
      this.#lines.push(line)
    }
  }

  get lineCount(): number {
    return this.#content().reduce((sum, line) => sum + line.split('\n').length - 1, 0)
  }

  stream(): Readable {
    return Readable.from(this.#content().map((line) => Buffer.from(line)))
  }

  #content(): string[] {
    return this.#dropped === 0 ? this.#lines : [...this.#lines, `${this.#dropped} more lines were dropped\n`]
  }
}
