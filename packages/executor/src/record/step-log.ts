import { once } from 'node:events'
import { createReadStream, createWriteStream, openSync, unlinkSync, type WriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import type { ArtifactStore, StoredObject } from '@scanfarm/contracts'

/**
 * The whole output of a step that is too long for its row, in a file without a name until the step ends: commands can
 * not exchange it, and it is gone when this process is.
 */
export class StepLog {
  readonly #limit: number
  readonly #descriptor: number
  readonly #file: WriteStream
  #written = 0
  #dropped = 0
  #ended: Promise<void> | undefined
  #failure: Error | undefined
  #room: PromiseWithResolvers<void> | undefined

  /** `path` must be free; it is used only for a moment. */
  constructor(path: string, limitBytes: number) {
    this.#limit = limitBytes
    this.#descriptor = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
    this.#file = createWriteStream(path, { fd: this.#descriptor, autoClose: false, emitClose: true })
    this.#file.on('error', (error) => (this.#failure = error))
    for (const event of ['drain', 'error', 'close'])
      this.#file.on(event, () => {
        this.#room?.resolve()
        this.#room = undefined
      })
  }

  /** A promise is back-pressure: the disk is slower than the command. */
  write(chunk: Buffer): void | Promise<void> {
    const room = Math.max(0, this.#limit - this.#written)
    const part = chunk.length > room ? chunk.subarray(0, room) : chunk
    this.#dropped += chunk.length - part.length
    this.#written += part.length
    if (part.length === 0 || this.#failure !== undefined || this.#file.write(part)) return
    this.#room ??= Promise.withResolvers()
    return this.#room.promise
  }

  /** Nothing more will be written. May be called again. */
  end(): Promise<void> {
    return (this.#ended ??= this.#end())
  }

  /** After the end; may be repeated. Rejects when disk or store fail. */
  async store(store: ArtifactStore, key: string): Promise<StoredObject> {
    if (this.#failure !== undefined) throw this.#failure
    return await store.put(key, createReadStream('', { fd: this.#descriptor, start: 0, autoClose: false }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Closes the descriptor as well, whatever `autoClose` says.
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
