import { randomUUID } from 'node:crypto'
import { ClassQueues, type ClassQueue } from './class-queues.ts'
import { delivery } from './delivery.ts'
import type { Link, Redelivery, Waiter } from './link.ts'
import { planTake } from './plan-take.ts'
import type { Consumer, Delivery, QueueLog } from './run-queue.ts'
import { pause } from './wait.ts'

/** Longest sleep of an idle consumer: bounds what a lost wake-up costs. */
const IDLE_MS = 1_000
/** Most messages of one `take`; more slots than this are filled by the next one. */
const MAX_BATCH = 256
const BACKOFF = { first: 50, most: 1_000 }

export interface ConsumerOptions {
  readonly farmId: string
  readonly redelivery: Redelivery
  readonly log: QueueLog
  serves(requirementClass: string): boolean
}

/** Receives by hand (no BullMQ processor), so that nothing is fetched before a slot is free. */
export class QueueConsumer implements Consumer {
  readonly #link: Link
  readonly #log: QueueLog
  readonly #queues: ClassQueues
  readonly #waiter: Waiter
  readonly #id = randomUUID()
  readonly #stop = new AbortController()
  readonly #checking: Promise<void>
  #fetches = 0
  #failures = 0

  constructor(link: Link, options: ConsumerOptions) {
    this.#link = link
    this.#log = options.log
    this.#queues = new ClassQueues(link, options)
    this.#waiter = link.waiter()
    this.#checking = this.#returnAbandoned(options.redelivery.checkMs)
  }

  async take(max: number, signal: AbortSignal): Promise<Delivery[]> {
    const stopped = AbortSignal.any([signal, this.#stop.signal])
    while (!stopped.aborted) {
      try {
        const found = await this.#look(Math.min(max, MAX_BATCH), stopped)
        this.#noteSuccess()
        if (found.length > 0) return await this.#unlessStopped(found, stopped)
      } catch (error) {
        if (stopped.aborted) break
        await pause(this.#noteFailure(error), stopped)
      }
    }
    return []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#waiter[Symbol.asyncDispose]()
    await this.#checking
    await this.#queues.close()
  }

  async #look(max: number, stopped: AbortSignal): Promise<Delivery[]> {
    const queues = await this.#queues.current()
    this.#waiter.arm()
    const found = await this.#fetch(queues, max)
    if (found.length === 0) {
      const names = queues.map(({ name }) => name)
      await this.#waiter.wait(names, IDLE_MS, stopped)
    }
    return found
  }

  async #fetch(queues: readonly ClassQueue[], max: number): Promise<Delivery[]> {
    const [only] = queues
    return only && queues.length === 1 ? await this.#fetchFrom(only, max) : await this.#fetchBest(queues, max)
  }

  /** With one queue the first message is surely the best one: no need to look before. */
  async #fetchFrom(queue: ClassQueue, max: number): Promise<Delivery[]> {
    const looking = max > 1 ? this.#link.heads([queue.name], max).catch(() => []) : []
    const [first, heads] = await Promise.all([this.#fetchAll([queue], [1]), looking])
    const more = Math.min((heads[0]?.length ?? 0) - first.length, max - 1)
    if (more <= 0) return first
    // What is in hand must not be lost to an error now.
    return [...first, ...(await this.#fetchAll([queue], [more]).catch(() => []))]
  }

  async #fetchBest(queues: readonly ClassQueue[], max: number): Promise<Delivery[]> {
    const names = queues.map(({ name }) => name)
    return await this.#fetchAll(queues, planTake(await this.#link.heads(names, max), max))
  }

  /** Rejects only when nothing was fetched. */
  async #fetchAll(queues: readonly ClassQueue[], counts: readonly number[]): Promise<Delivery[]> {
    const fetches = queues.flatMap((queue, index) =>
      Array.from({ length: counts[index] ?? 0 }, () => this.#fetchOne(queue)),
    )
    const results = await Promise.allSettled(fetches)
    const found = results.flatMap((result) =>
      result.status === 'fulfilled' && result.value ? [result.value] : [],
    )
    const failed = results.find((result) => result.status === 'rejected')
    if (found.length === 0 && failed) throw failed.reason
    return found
  }

  async #fetchOne({ receiver }: ClassQueue): Promise<Delivery | undefined> {
    this.#fetches += 1
    const token = `${this.#id}-${this.#fetches}`
    const job = await receiver.getNextJob(token, { block: false })
    return job && delivery(job, token, this.#log)
  }

  async #unlessStopped(found: Delivery[], stopped: AbortSignal): Promise<Delivery[]> {
    if (!stopped.aborted) return found
    await Promise.all(found.map((message) => message.release()))
    return []
  }

  /** Messages whose consumer died come back only because living ones look for them. */
  async #returnAbandoned(checkMs: number): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      await pause(checkMs, signal)
      if (signal.aborted) return
      const checks = this.#queues.known.map(({ receiver }) => receiver.getBackend().moveStalledJobsToWait())
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
    if (this.#failures === 0) this.#log.warn('the queue cannot be read, trying on', { error })
    this.#failures += 1
    return Math.min(BACKOFF.first * 2 ** (this.#failures - 1), BACKOFF.most)
  }
}
