import { untilAborted, type Notifier, type OpenQueue, type Received } from '../backend.ts'
import type { QueueLog } from '../run-queue.ts'
import type { RedisAddress } from './address.ts'
import { connect } from './connect.ts'
import { RedisReceiver } from './receiver.ts'
import { withScripts, type ScriptedRedis } from './scripts.ts'

/**
 * A blocking read that exceeds its own timeout by this much is dead: the client reconnects. The client forgets the reads
 * that were under way when a connection was lost, and never settles them.
 */
const WATCHDOG_MS = 1_000

/** What a blocking read returned: the key of a marker, and the messages that were taken after it. */
interface Read {
  readonly marker: string | undefined
  readonly received: readonly Received[]
}

/**
 * Blocks on BullMQ's markers. Each marker notifies exactly one idle consumer of the farm; a consumer that takes a message
 * sets the marker again for the next one. One connection serves any number of queues. Messages of a single queue are
 * taken on the same connection, so that Redis does it as soon as the read ends.
 */
export class RedisNotifier implements Notifier {
  readonly #client: ScriptedRedis
  readonly #markerOf: (queue: string) => string
  /** Settles when the last blocking read has ended, and what an aborted wait read has been put back. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: { server: RedisAddress; log: QueueLog; markerOf(queue: string): string }) {
    this.#client = withScripts(connect(options.server, options.log, { blocking: true }))
    this.#markerOf = (queue) => options.markerOf(queue)
  }

  /** Markers stay until they are read, so none can be missed. */
  arm(): void {}

  async wait(
    queues: readonly OpenQueue[],
    ms: number,
    max: number,
    signal: AbortSignal,
  ): Promise<readonly Received[]> {
    // After an abort the read is still blocked, and gets the next marker.
    await untilAborted(this.#last, signal)
    if (signal.aborted) return []
    const [only, ...others] = queues
    const receiver =
      others.length === 0 && only?.receiver instanceof RedisReceiver ? only.receiver : undefined
    const reading = this.#read(queues, ms, receiver && { receiver, max })
    this.#last = reading.catch(() => undefined)
    const read = await untilAborted(reading, signal)
    if (!signal.aborted) return read?.received ?? []
    this.#last = this.#putBack(reading, receiver)
    return []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.disconnect()
    await this.#last
  }

  async #read(
    queues: readonly OpenQueue[],
    ms: number,
    from: { readonly receiver: RedisReceiver; readonly max: number } | undefined,
  ): Promise<Read> {
    const dead = Promise.withResolvers<never>()
    const watchdog = setTimeout(() => {
      this.#client.disconnect(true)
      dead.reject(new Error('Redis did not answer a blocking read in time'))
    }, ms + WATCHDOG_MS)
    try {
      const markers = queues.map(({ name }) => this.#markerOf(name))
      const popped = this.#client.bzpopmin(...markers, ms / 1000)
      const taken = from?.receiver.take(from.max, this.#client) ?? []
      const [marker, received] = await Promise.race([Promise.all([popped, taken]), dead.promise])
      return { marker: marker?.[0], received }
    } finally {
      clearTimeout(watchdog)
    }
  }

  /** Puts back what an aborted wait read, for another consumer. */
  async #putBack(reading: Promise<Read>, receiver: RedisReceiver | undefined): Promise<void> {
    try {
      const { marker, received } = await reading
      const ids = received.map(({ id }) => id)
      // This sets the marker too.
      if (ids.length > 0) await receiver?.settle(ids, 'return')
      else if (marker !== undefined) await this.#client.zadd(marker, 0, '0')
    } catch {
      // Closed, or Redis is unreachable: idle consumers read the queues once a second, and locks expire.
    }
  }
}
