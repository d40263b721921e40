import { PRIORITY_RANK, type Priority, type WaitingJob } from '@scanfarm/contracts'
import { QueueConsumer } from './consumer.ts'
import type { Backend, Redelivery, Sender } from './backend.ts'
import { bullMessage, messageId } from './message.ts'
import { queueName, type Signal } from './names.ts'
import type { Consumer, MessageRef, QueueLog, QueueMessage, RunQueue } from './run-queue.ts'

/** Messages in one round trip. Bounded, so that the event loop and Redis can serve other work in between. */
const BATCH = 250

export class BullRunQueue implements RunQueue {
  readonly #backend: Backend
  readonly #farmId: string
  readonly #log: QueueLog
  readonly #redelivery: Redelivery
  readonly #senders = new Map<string, Promise<Sender>>()

  constructor(backend: Backend, options: { farmId: string; log: QueueLog; redelivery: Redelivery }) {
    this.#backend = backend
    this.#farmId = options.farmId
    this.#log = options.log
    this.#redelivery = options.redelivery
  }

  async add(messages: readonly QueueMessage[]): Promise<void> {
    for (const [requirementClass, group] of byClass(messages)) {
      const sender = await this.#sender(requirementClass)
      await addAll(sender, group, this.#backend.keepsOrder ? 2 : 1)
    }
  }

  async waiting(requirementClass: string): Promise<Record<Priority, number>> {
    const sender = await this.#sender(requirementClass)
    const counts = await sender.getCountsPerPriority(Object.values(PRIORITY_RANK))
    const of = (priority: Priority) => counts[PRIORITY_RANK[priority]] ?? 0
    return { critical: of('critical'), high: of('high'), normal: of('normal'), low: of('low') }
  }

  async has(messages: readonly MessageRef[]): Promise<boolean[]> {
    const found = new Set<MessageRef>()
    for (const [requirementClass, group] of byClass(messages)) {
      const queue = queueName(this.#farmId, requirementClass)
      for (const batch of inBatches(group)) {
        const exists = await this.#backend.has(queue, batch.map(messageId))
        batch.forEach((message, index) => exists[index] === true && found.add(message))
      }
    }
    return messages.map((message) => found.has(message))
  }

  async remove(messages: readonly MessageRef[]): Promise<void> {
    for (const [requirementClass, group] of byClass(messages)) {
      const sender = await this.#sender(requirementClass)
      for (const batch of inBatches(group))
        await Promise.all(batch.map((message) => sender.remove(messageId(message))))
    }
  }

  async forget(job: WaitingJob): Promise<void> {
    const sender = await this.#sender(job.requirementClass)
    await sender.forget(job, PRIORITY_RANK[job.priority])
  }

  generation(): Promise<string> {
    return this.#backend.generation()
  }

  consumer(options: { serves(requirementClass: string): boolean }): Consumer {
    const { serves } = options
    return new QueueConsumer(this.#backend, {
      serves,
      farmId: this.#farmId,
      redelivery: this.#redelivery,
      log: this.#log,
    })
  }

  async publishCancel(runs: readonly { readonly runId: number }[]): Promise<void> {
    if (runs.length > 0) await this.#backend.publishCancel(runs)
  }

  async publishWorkers(workerIds: readonly string[]): Promise<void> {
    if (workerIds.length > 0) await this.#backend.publishWorkers(workerIds)
  }

  onSignal(listener: (signal: Signal) => void, onMissed?: () => void): Promise<AsyncDisposable> {
    return this.#backend.onSignal(listener, onMissed)
  }

  check(): Promise<void> {
    return this.#backend.check()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const senders = await Promise.allSettled(this.#senders.values())
    for (const sender of senders) if (sender.status === 'fulfilled') await sender.value.close()
    await this.#backend[Symbol.asyncDispose]()
  }

  async #sender(requirementClass: string): Promise<Sender> {
    this.#backend.assertConnected()
    const known = this.#senders.get(requirementClass)
    if (known) return await known
    const opening = this.#backend.sender(queueName(this.#farmId, requirementClass), requirementClass)
    this.#senders.set(requirementClass, opening)
    opening.catch(() => this.#senders.delete(requirementClass))
    return await opening
  }
}

const byClass = <M extends MessageRef>(messages: readonly M[]): Map<string, M[]> =>
  Map.groupBy(messages, ({ requirementClass }) => requirementClass)

/** `width`: batches in progress; with 2, one is built while the previous one is stored. */
const addAll = async (sender: Sender, messages: readonly QueueMessage[], width: 1 | 2): Promise<void> => {
  let previous: Promise<unknown> | undefined
  for (const batch of inBatches(messages)) {
    const adding = sender.addBulk(batch.map(bullMessage))
    adding.catch(() => undefined)
    await (width === 1 ? adding : previous)
    previous = adding
  }
  await previous
}

function* inBatches<M>(messages: readonly M[]): Generator<M[]> {
  for (let at = 0; at < messages.length; at += BATCH) yield messages.slice(at, at + BATCH)
}
