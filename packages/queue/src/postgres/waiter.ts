import type { Waiter } from '../link.ts'
import type { QueueLog } from '../run-queue.ts'
import { pause, untilAborted } from '../wait.ts'
import { PgListener } from './listener.ts'

/** The channel on which BullMQ names the queue that has got something. */
const CHANNEL = 'bullmq_jobs'
/** Shortest time between two waits that a notification ends: any login of the database can notify. */
const REST_MS = 50

/** Wakes all idle consumers of a farm at once, which is why this backend is for small farms. */
export class PostgresWaiter implements Waiter {
  readonly #url: string
  readonly #log: QueueLog
  readonly #isOurs: (queue: string) => boolean
  #listener: Promise<PgListener> | undefined
  #closed = false
  #endedAt = -Infinity
  #rung = false
  #ring: (() => void) | undefined

  constructor(options: { url: string; log: QueueLog; isOurs(queue: string): boolean }) {
    this.#url = options.url
    this.#log = options.log
    this.#isOurs = (queue) => options.isOurs(queue)
  }

  arm(): void {
    this.#rung = false
  }

  async wait(_queues: readonly string[], ms: number, signal: AbortSignal): Promise<void> {
    if (this.#closed) return
    const first = this.#listener === undefined
    await (this.#listener ??= this.#open())
    // What came before the connection stood was not heard: look again at once.
    if (first || this.#closed) return
    if (!this.#rung) await this.#untilRung(ms, signal)
    if (!this.#rung || this.#closed) return
    const rest = this.#endedAt + REST_MS - performance.now()
    if (rest > 0) await pause(rest, signal)
    this.#endedAt = performance.now()
  }

  async #untilRung(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#ring = resolve
    const done = new AbortController()
    await Promise.race([
      untilAborted(promise, AbortSignal.any([signal, done.signal])),
      pause(ms, AbortSignal.any([signal, done.signal])),
    ])
    done.abort()
    this.#ring = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#wake()
    // One that is only being opened must not stay behind either.
    const listener = await this.#listener?.catch(() => undefined)
    await listener?.[Symbol.asyncDispose]()
  }

  async #open(): Promise<PgListener> {
    try {
      return await PgListener.open({
        url: this.#url,
        log: this.#log,
        channels: { [CHANNEL]: (queue) => this.#isOurs(queue) && this.#wake() },
        onBack: () => this.#wake(),
      })
    } catch (error) {
      this.#listener = undefined
      throw error
    }
  }

  #wake(): void {
    this.#rung = true
    this.#ring?.()
  }
}
