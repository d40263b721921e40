import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

type Deliver = (chunk: Buffer) => void | Promise<void>

/**
 * Reads one pipe and delivers it chunk by chunk. Nothing is read while the receiver is busy, so a slow receiver slows
 * the command down and memory stays flat. Owns the descriptor.
 */
export class OutputReader {
  /** Settles when all was received or the reader was closed. Rejects if the receiver failed. */
  readonly done: Promise<void>
  readonly #socket: Socket
  #ended = false
  #finished = false
  #receiving = false
  #chunks = 0

  constructor(descriptor: number, deliver: Deliver | undefined) {
    this.#socket = new Socket({ fd: descriptor, readable: true, writable: false })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.done = promise.finally(() => (this.#finished = true))
    this.#socket.on('data', (chunk) => {
      this.#chunks += 1
      const received = receive(deliver, chunk)
      if (received instanceof Promise) this.#await(received, reject)
    })
    this.#socket.once('end', () => (this.#ended = true))
    // A read error ends the reader like a close, without `ended`.
    this.#socket.on('error', () => {})
    this.#socket.once('close', () => this.#receiving || resolve())
    this.#afterReceiving = () => this.#socket.closed && resolve()
  }

  readonly #afterReceiving: () => void

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

  close(): void {
    this.#socket.destroy()
  }

  #await(received: Promise<void>, reject: (error: unknown) => void): void {
    this.#receiving = true
    this.#socket.pause()
    received.then(
      () => {
        this.#receiving = false
        this.#socket.resume()
        this.#afterReceiving()
      },
      (error: unknown) => {
        this.#receiving = false
        this.#socket.destroy()
        reject(error)
      },
    )
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
