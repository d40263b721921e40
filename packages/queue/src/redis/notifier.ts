import type { Redis } from 'ioredis'
import { untilAborted, type Notifier } from '../backend.ts'
import type { QueueLog } from '../run-queue.ts'
import { connect } from './connect.ts'

/**
 * A blocking read that exceeds its own timeout by this much is dead: the client reconnects. The client forgets the reads
 * that were under way when a connection was lost, and never settles them.
 */
const WATCHDOG_MS = 1_000

/**
 * Blocks on BullMQ's markers. Each marker notifies exactly one idle consumer of the farm; a consumer that takes a message
 * sets the marker again for the next one. One connection serves any number of queues.
 */
export class RedisNotifier implements Notifier {
  readonly #client: Redis
  readonly #markerOf: (queue: string) => string
  #blocked: Promise<string | undefined> | undefined

  constructor(options: { url: string; log: QueueLog; markerOf(queue: string): string }) {
    this.#client = connect(options.url, options.log, { blocking: true })
    this.#markerOf = (queue) => options.markerOf(queue)
  }

  /** Markers stay until they are read, so none can be missed. */
  arm(): void {}

  async wait(queues: readonly string[], ms: number, signal: AbortSignal): Promise<void> {
    // After an abort the previous read is still blocked and would consume the next marker, so reuse it.
    const blocked = (this.#blocked ??= this.#block(queues, ms).finally(() => {
      this.#blocked = undefined
    }))
    await untilAborted(blocked, signal)
    if (signal.aborted) void this.#putBack(blocked)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.disconnect()
    await this.#blocked?.catch(() => undefined)
  }

  async #block(queues: readonly string[], ms: number): Promise<string | undefined> {
    const dead = Promise.withResolvers<never>()
    const watchdog = setTimeout(() => {
      this.#client.disconnect(true)
      dead.reject(new Error('Redis did not answer a blocking read in time'))
    }, ms + WATCHDOG_MS)
    try {
      const popped = this.#client.bzpopmin(...queues.map(this.#markerOf), ms / 1000)
      return (await Promise.race([popped, dead.promise]))?.[0]
    } finally {
      clearTimeout(watchdog)
    }
  }

  /** Puts back the marker that an aborted wait consumed, for another consumer. */
  async #putBack(blocked: Promise<string | undefined>): Promise<void> {
    try {
      const marker = await blocked
      if (marker !== undefined) await this.#client.zadd(marker, 0, '0')
    } catch {
      // Closed, or Redis is unreachable: idle consumers read the queues once a second anyway.
    }
  }
}
