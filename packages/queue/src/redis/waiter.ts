import type { Redis } from 'ioredis'
import type { Waiter } from '../link.ts'
import type { QueueLog } from '../run-queue.ts'
import { untilAborted } from '../wait.ts'
import { connect } from './connect.ts'

/** A blocking read that outlasts its own timeout by this much is dead: the connection is made anew. */
const WATCHDOG_MS = 1_000

/**
 * Blocks on BullMQ's markers: each wakes exactly one idle consumer of the farm, and whoever takes a message sets the
 * marker again for the next. One connection serves any number of queues.
 */
export class RedisWaiter implements Waiter {
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
    // A read that an abort left behind is still blocked and would swallow the next marker: join it.
    const blocked = (this.#blocked ??= this.#block(queues, ms).finally(() => {
      this.#blocked = undefined
    }))
    await untilAborted(blocked, signal)
    if (signal.aborted) void this.#passOn(blocked)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.disconnect()
    await this.#blocked?.catch(() => undefined)
  }

  async #block(queues: readonly string[], ms: number): Promise<string | undefined> {
    const watchdog = setTimeout(() => this.#client.disconnect(true), ms + WATCHDOG_MS)
    try {
      const popped = await this.#client.bzpopmin(...queues.map(this.#markerOf), ms / 1000)
      return popped?.[0]
    } finally {
      clearTimeout(watchdog)
    }
  }

  /** The marker that an aborted wait took belongs to somebody else. */
  async #passOn(blocked: Promise<string | undefined>): Promise<void> {
    try {
      const marker = await blocked
      if (marker !== undefined) await this.#client.zadd(marker, 0, '0')
    } catch {
      // Closed, or Redis is away: an idle consumer looks by itself within a second.
    }
  }
}
