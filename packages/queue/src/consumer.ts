import { backoffMs } from '@scanfarm/contracts'
import { pause } from '@scanfarm/platform'
import { ClassQueues } from './class-queues.ts'
import { deliveries } from './delivery.ts'
import type { Backend, Notifier, OpenQueue, Receiver, Redelivery } from './backend.ts'
import { planTake } from './plan-take.ts'
import type { Consumer, Delivery, QueueLog } from './run-queue.ts'

/** Longest wait of an idle consumer: the delay after a lost notification. */
const IDLE_MS = 1_000
/** Most messages in one `take`. */
const MAX_BATCH = 256
const BACKOFF = { firstMs: 50, mostMs: 1_000 }

export interface ConsumerOptions {
  readonly farmId: string
  readonly redelivery: Redelivery
  readonly log: QueueLog
  serves(requirementClass: string): boolean
}

/** Fetches messages explicitly, without a BullMQ processor: nothing is fetched before a slot is free. */
export class QueueConsumer implements Consumer {
  readonly #backend: Backend
  readonly #log: QueueLog
  readonly #queues: ClassQueues
  readonly #notifier: Notifier
  readonly #stop = new AbortController()
  readonly #checking: Promise<void>
  #failures = 0
  /** The last fetch emptied the only queue: the next call waits for a notification first, if it waits. */
  #isEmptied = false

  constructor(backend: Backend, options: ConsumerOptions) {
    this.#backend = backend
    this.#log = options.log
    this.#queues = new ClassQueues(backend, options)
    this.#notifier = backend.notifier()
    this.#checking = this.#returnAbandoned(options.redelivery.checkMs)
  }

  async take(
    max: number | (() => number),
    signal: AbortSignal,
    afterWait = Number.POSITIVE_INFINITY,
  ): Promise<Delivery[]> {
    const stopped = AbortSignal.any([signal, this.#stop.signal])
    while (!stopped.aborted) {
      try {
        let most = Math.min(typeof max === 'number' ? max : max(), MAX_BATCH)
        const queues = await this.#queues.current()
        // Of several queues, a short fetch says nothing: others may have taken what was planned.
        const takesAll = queues.length === 1 && this.#backend.takesGroups
        const waits = afterWait > 0
        let found = this.#isEmptied && takesAll && waits ? [] : await this.#fetchArmed(queues, most)
        if (found.length === 0 && waits) {
          most = Math.min(most, afterWait)
          found = await this.#wait(queues, most, stopped)
        }
        this.#isEmptied = takesAll && found.length < most
        this.#noteSuccess()
        if (found.length > 0 || !waits) return await this.#unlessStopped(found, stopped)
      } catch (error) {
        if (stopped.aborted) break
        await pause(this.#noteFailure(error), stopped)
      }
    }
    return []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#notifier[Symbol.asyncDispose]()
    await this.#checking
    await this.#queues.close()
  }

  async #wait(queues: readonly OpenQueue[], max: number, stopped: AbortSignal): Promise<Delivery[]> {
    const received = await this.#notifier.wait(queues, IDLE_MS, max, stopped)
    const [only] = queues
    return only === undefined ? [] : deliveries(only.receiver, received, this.#log)
  }

  #fetchArmed(queues: readonly OpenQueue[], max: number): Promise<Delivery[]> {
    this.#notifier.arm()
    return this.#fetch(queues, max)
  }

  async #fetch(queues: readonly OpenQueue[], max: number): Promise<Delivery[]> {
    // The first messages of a single queue are the most urgent ones, without a plan.
    const needsNoPlan = queues.length === 1 && (this.#backend.takesGroups || max === 1)
    const counts = needsNoPlan ? [max] : await this.#plan(queues, max)
    const results = await Promise.allSettled(
      queues.map(({ receiver }, index) => this.#takeFrom(receiver, counts[index] ?? 0)),
    )
    const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    const failed = results.find((result) => result.status === 'rejected')
    // An error must not lose the messages that were fetched.
    if (found.length === 0 && failed) throw failed.reason
    return found
  }

  async #plan(queues: readonly OpenQueue[], max: number): Promise<number[]> {
    return planTake(await this.#backend.heads(namesOf(queues), max), max)
  }

  async #takeFrom(receiver: Receiver, count: number): Promise<Delivery[]> {
    return count <= 0 ? [] : deliveries(receiver, await receiver.take(count), this.#log)
  }

  async #unlessStopped(found: Delivery[], stopped: AbortSignal): Promise<Delivery[]> {
    if (!stopped.aborted) return found
    await Promise.all(found.map((message) => message.release()))
    return []
  }

  /** Returns messages of dead consumers to their queues: BullMQ leaves this to the live consumers. */
  async #returnAbandoned(checkMs: number): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      await pause(checkMs, signal)
      if (signal.aborted) return
      const checks = this.#queues.known.map(({ receiver }) => receiver.returnAbandoned())
      for (const result of await Promise.allSettled(checks)) {
        if (result.status === 'rejected')
          this.#log.debug('the search for abandoned messages failed', { error: result.reason })
        else if (result.value.length > 0)
          this.#log.warn('messages of a dead consumer were returned', { messages: result.value.length })
      }
    }
  }

  #noteSuccess(): void {
    if (this.#failures > 0) this.#log.info('the queue can be read again', { failures: this.#failures })
    this.#failures = 0
  }

  /** @returns how long to wait, in ms */
  #noteFailure(error: unknown): number {
    if (this.#failures === 0) this.#log.warn('the queue cannot be read; retrying', { error })
    this.#failures += 1
    return backoffMs(this.#failures, BACKOFF)
  }
}

const namesOf = (queues: readonly OpenQueue[]): string[] => queues.map(({ name }) => name)
