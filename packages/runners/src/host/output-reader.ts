import { closeSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

type Deliver = (chunk: Buffer) => void | Promise<void>

/** Size of a pipe, unless its writer enlarges it. */
const READ_BYTES = 65_536
const MOST_READS = 4
const buffer = Buffer.allocUnsafeSlow(READ_BYTES)

/**
 * Reads one pipe and delivers it chunk by chunk. Nothing is read while the receiver is busy, so a slow receiver slows
 * the command down and memory stays flat. Owns the descriptor.
 */
export class OutputReader {
  /** Settles when all was received or the reader was closed. Rejects if the receiver failed. */
  readonly done: Promise<void>
  readonly #descriptor: number
  readonly #deliver: Deliver | undefined
  readonly #settle: PromiseWithResolvers<void>
  #socket: Socket | undefined
  #ended = false
  #finished = false
  #receiving = false
  #chunks = 0

  /** Output waits in the pipe until `listen` or `readRest`. */
  constructor(descriptor: number, deliver: Deliver | undefined) {
    this.#descriptor = descriptor
    this.#deliver = deliver
    this.#settle = Promise.withResolvers<void>()
    this.done = this.#settle.promise
  }

  /** The end of the pipe was read: no process holds its other end. */
  get ended(): boolean {
    return this.#ended
  }

  get finished(): boolean {
    return this.#finished
  }

  /** Changes with every chunk: the same value twice means that the command wrote nothing in between. */
  get progress(): number {
    return this.#receiving ? Number.NaN : this.#chunks
  }

  /** Delivers output when it arrives. */
  listen(): void {
    if (this.#finished) return
    this.#socket ??= this.#open()
  }

  /**
   * For a command that has ended: delivers at once what the pipe holds, which costs a fraction of a socket. If a process
   * still has the other end, or the receiver is busy, the rest is delivered as by `listen`.
   */
  readRest(): void {
    for (let reads = 0; reads < MOST_READS && this.#socket === undefined && !this.#finished; reads += 1) {
      const chunk = readChunk(this.#descriptor)
      if (chunk === undefined) break
      if (chunk.length > 0) this.#receive(chunk)
      else {
        this.#ended = true
        this.close()
      }
    }
    this.listen()
  }

  close(): void {
    if (this.#socket !== undefined) this.#socket.destroy()
    else if (!this.#finished) {
      closeSync(this.#descriptor)
      this.#finish()
    }
  }

  #open(): Socket {
    const socket = new Socket({ fd: this.#descriptor, readable: true, writable: false })
    socket.on('data', (chunk) => this.#receive(chunk))
    socket.once('end', () => (this.#ended = true))
    // A read error ends the reader like a close, without `ended`.
    socket.on('error', () => {})
    socket.once('close', () => this.#receiving || this.#finish())
    return socket
  }

  #finish(): void {
    this.#finished = true
    this.#settle.resolve()
  }

  #receive(chunk: Buffer): void {
    this.#chunks += 1
    const received = receive(this.#deliver, chunk)
    if (!(received instanceof Promise)) return
    this.#receiving = true
    this.listen()
    this.#socket?.pause()
    received.then(
      () => {
        this.#receiving = false
        this.#socket?.resume()
        if (this.#socket?.closed === true) this.#finish()
      },
      (error: unknown) => {
        this.#receiving = false
        this.#finished = true
        this.#socket?.destroy()
        this.#settle.reject(error)
      },
    )
  }
}

/** Empty at the end of the pipe; undefined if there is nothing to read now. */
function readChunk(descriptor: number): Buffer | undefined {
  try {
    return Buffer.from(buffer.subarray(0, readSync(descriptor, buffer)))
  } catch {
    return undefined
  }
}

function receive(deliver: Deliver | undefined, chunk: Buffer): void | Promise<void> {
  try {
    return deliver?.(chunk)
  } catch (error) {
    return Promise.reject(error)
  }
}

/** True when all are finished; false when nothing came for `quietMs` although the receivers were ready. */
export async function finishedOrQuiet(readers: readonly OutputReader[], quietMs: number): Promise<boolean> {
  const all = Promise.allSettled(readers.map((reader) => reader.done))
  const timer = new AbortController()
  try {
    for (;;) {
      const before = readers.map((reader) => reader.progress)
      const quiet = delay(quietMs, 'quiet', { signal: timer.signal }).catch(() => 'quiet')
      if ((await Promise.race([all, quiet])) !== 'quiet') return true
      if (readers.every((reader, index) => reader.finished || reader.progress === before[index])) return false
    }
  } finally {
    timer.abort()
  }
}
