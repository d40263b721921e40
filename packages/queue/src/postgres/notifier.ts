import { pause } from '@scanfarm/platform'
import { listen } from '@scanfarm/platform/postgres'
import { untilAborted, type Notifier, type OpenQueue } from '../backend.ts'
import type { QueueLog } from '../run-queue.ts'

/** The channel on which BullMQ sends the name of a queue with a new message. */
const CHANNEL = 'bullmq_jobs'
/** Least time between two waits that a notification ends: any login of the database can send notifications. */
const REST_MS = 50

/** Notifies all idle consumers of a farm at once, so this backend is for small farms. */
export class PostgresNotifier implements Notifier {
  readonly #url: string
  readonly #log: QueueLog
  readonly #isOurs: (queue: string) => boolean
  #listener: Promise<AsyncDisposable> | undefined
  #closed = false
  #endedAt = -Infinity
  #notified = false
  #resolve: (() => void) | undefined

  constructor(options: { url: string; log: QueueLog; isOurs(queue: string): boolean }) {
    this.#url = options.url
    this.#log = options.log
    this.#isOurs = (queue) => options.isOurs(queue)
  }

  arm(): void {
    this.#notified = false
  }

  async wait(_queues: readonly OpenQueue[], ms: number, _max: number, signal: AbortSignal): Promise<never[]> {
    if (!this.#closed) await this.#wait(ms, signal)
    return []
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    const first = this.#listener === undefined
    await (this.#listener ??= this.#open())
    // Notifications sent before the connection was open were missed: read the queues again at once.
    if (first || this.#closed) return
    if (!this.#notified) await this.#untilNotified(ms, signal)
    if (!this.#notified || this.#closed) return
    const rest = this.#endedAt + REST_MS - performance.now()
    if (rest > 0) await pause(rest, signal)
    this.#endedAt = performance.now()
  }

  async #untilNotified(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#resolve = resolve
    const done = new AbortController()
    await Promise.race([
      untilAborted(promise, AbortSignal.any([signal, done.signal])),
      pause(ms, AbortSignal.any([signal, done.signal])),
    ])
    done.abort()
    this.#resolve = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#notify()
    // A listener that is still opening must be closed too.
    const listener = await this.#listener?.catch(() => undefined)
    await listener?.[Symbol.asyncDispose]()
  }

  async #open(): Promise<AsyncDisposable> {
    try {
      return await listen({
        url: this.#url,
        log: (message, facts) => this.#log.warn(message, facts),
        channels: { [CHANNEL]: (queue) => this.#isOurs(queue) && this.#notify() },
        onBack: () => this.#notify(),
      })
    } catch (error) {
      this.#listener = undefined
      throw error
    }
  }

  #notify(): void {
    this.#notified = true
    this.#resolve?.()
  }
}
