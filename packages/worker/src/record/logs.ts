import { once } from 'node:events'
import { createReadStream, createWriteStream, openSync, read, unlinkSync, type WriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { promisify } from 'node:util'
import type { ArtifactStore, StoredObject } from '@scanfarm/contracts'
import { replaceNul } from './row-values.ts'

const MAX_CHUNKS = 256

const readFrom = promisify(read)

/** A log that grows at its end. */
export interface GrowingLog {
  /** Bytes that can be read so far. */
  readonly length: number
  /** `end` is exclusive and at most `length`. */
  read(start: number, end: number): Promise<Buffer>
}

/** The last bytes of a stream, in less than twice their memory. */
export class OutputTail {
  readonly #limit: number
  #chunks: Buffer[] = []
  #bytes = 0
  #total = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  /** Bytes written so far. */
  get total(): number {
    return this.#total
  }

  /** No byte has been dropped yet. */
  get whole(): boolean {
    return this.#total <= this.#limit
  }

  push(chunk: Buffer): void {
    this.#total += chunk.length
    const replaces = chunk.length >= this.#limit
    if (replaces) this.#chunks = []
    // A copy: a short chunk may be a slice of a large buffer and would keep it in memory.
    this.#chunks.push(Buffer.from(chunk.subarray(-this.#limit)))
    this.#bytes = replaces ? this.#limit : this.#bytes + chunk.length
    if (this.#bytes > this.#limit * 2 || this.#chunks.length > MAX_CHUNKS) this.#compact()
  }

  /** At most the limit. */
  bytes(): Buffer {
    this.#compact()
    return this.#chunks[0] ?? Buffer.alloc(0)
  }

  /** Text that Postgres accepts: valid UTF-8 of at most the limit in bytes, whole characters, no NUL. */
  text(): string {
    if (this.#total === 0) return ''
    const bytes = this.bytes()
    const text = replaceNul(bytes.subarray(this.whole ? 0 : firstCharacter(bytes)).toString('utf8'))
    const encoded = Buffer.byteLength(text)
    if (encoded <= this.#limit) return text
    // Each invalid byte has become a replacement character of three bytes.
    const longer = Buffer.from(text)
    const tail = longer.subarray(longer.length - this.#limit)
    return tail.subarray(firstCharacter(tail)).toString('utf8')
  }

  #compact(): void {
    if (this.#chunks.length <= 1 && this.#bytes <= this.#limit) return
    const all = Buffer.concat(this.#chunks)
    const rest = Buffer.from(all.subarray(-this.#limit))
    this.#chunks = [rest]
    this.#bytes = rest.length
  }
}

/** Offset of the first whole character. */
const firstCharacter = (bytes: Buffer): number => {
  const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80
  let start = 0
  while (start < 3 && isContinuation(bytes[start])) start += 1
  return start
}

/**
 * The complete output of a step whose output is too long for its row, in an unlinked file: commands cannot replace it,
 * and it is freed when this process ends.
 */
export class StepLog implements GrowingLog {
  readonly #limit: number
  readonly #descriptor: number
  readonly #file: WriteStream
  #written = 0
  #dropped = 0
  #ended: Promise<void> | undefined
  #failure: Error | undefined
  #drained: PromiseWithResolvers<void> | undefined

  /** `path` must not exist; the file is unlinked at once. */
  constructor(path: string, limitBytes: number) {
    this.#limit = limitBytes
    this.#descriptor = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
    this.#file = createWriteStream(path, { fd: this.#descriptor, autoClose: false, emitClose: true })
    this.#file.on('error', (error) => (this.#failure = error))
    for (const event of ['drain', 'error', 'close'])
      this.#file.on(event, () => {
        this.#drained?.resolve()
        this.#drained = undefined
      })
  }

  get length(): number {
    return this.#file.bytesWritten
  }

  async read(start: number, end: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(end - start)
    const { bytesRead } = await readFrom(this.#descriptor, bytes, 0, bytes.length, start)
    return bytes.subarray(0, bytesRead)
  }

  /** A promise is back-pressure: the disk is slower than the command. */
  write(chunk: Buffer): void | Promise<void> {
    const left = Math.max(0, this.#limit - this.#written)
    const part = chunk.length > left ? chunk.subarray(0, left) : chunk
    this.#dropped += chunk.length - part.length
    this.#written += part.length
    if (part.length === 0 || this.#failure !== undefined || this.#file.write(part)) return
    this.#drained ??= Promise.withResolvers()
    return this.#drained.promise
  }

  /** Closes the file for writing. May be called again. */
  end(): Promise<void> {
    return (this.#ended ??= this.#end())
  }

  /** Call it after `end`; may be repeated. Rejects when the disk or the store fails. */
  async store(store: ArtifactStore, key: string): Promise<StoredObject> {
    if (this.#failure !== undefined) throw this.#failure
    return await store.put(key, createReadStream('', { fd: this.#descriptor, start: 0, autoClose: false }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Closes the descriptor too, despite `autoClose`.
    this.#file.destroy()
    if (!this.#file.closed) await once(this.#file, 'close')
  }

  async #end(): Promise<void> {
    if (this.#dropped > 0)
      this.#file.write(
        `\n[${this.#dropped} more bytes were dropped: the log of a step keeps ${this.#limit} bytes]\n`,
      )
    this.#file.end()
    await finished(this.#file)
  }
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** The log of a run: lines of its workflow and of the engine. Kept in memory up to a bound, then counted. */
export class RunLog implements GrowingLog {
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

  /** Without the count of dropped lines. */
  get length(): number {
    return this.#bytes
  }

  async read(start: number, end: number): Promise<Buffer> {
    return Buffer.from(this.#lines.join('')).subarray(start, end)
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
