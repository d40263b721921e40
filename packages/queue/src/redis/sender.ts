import type { WaitingJob } from '@scanfarm/contracts'
import type { Queue } from 'bullmq'
import type { Sender } from '../backend.ts'
import type { BullMessage } from '../message.ts'
import type { ScriptedRedis } from './scripts.ts'

/** BullMQ writes what happens to a message to an event stream, which this package does not read. */
const MAX_EVENTS = 10

export interface RedisSenderOptions {
  readonly client: ScriptedRedis
  readonly queue: Pick<Queue, 'getCountsPerPriority' | 'remove' | 'close'>
  readonly requirementClass: string
  /** Key of the set of classes in use. */
  readonly classesKey: string
  /** Key of the places that were taken last. */
  readonly placesKey: string
  /** Key of a part of the queue. */
  keyOf(part: string): string
}

export class RedisSender implements Sender {
  readonly #options: RedisSenderOptions

  constructor(options: RedisSenderOptions) {
    this.#options = options
  }

  async addBulk(messages: readonly BullMessage[]): Promise<void> {
    const { client, requirementClass, classesKey, placesKey, keyOf } = this.#options
    const keys = [keyOf('prioritized'), placesKey, keyOf('marker'), keyOf('meta'), classesKey, keyOf('')]
    const numbers = new Map<string, number>()
    const jobs: (string | number)[] = []
    const rows = messages.flatMap(({ data, share: { jobNo, owner, weight }, opts }) => {
      const job = `${opts.priority}:${jobNo}`
      if (!numbers.has(job)) {
        numbers.set(job, numbers.size + 1)
        jobs.push(opts.priority, jobNo, owner, weight)
      }
      return [opts.jobId, JSON.stringify(data), numbers.get(job) ?? 0]
    })
    await client.scanfarmAdd(
      ...keys,
      requirementClass,
      MAX_EVENTS,
      Date.now(),
      numbers.size,
      ...jobs,
      ...rows,
    )
  }

  async forget({ jobNo, owner }: WaitingJob, rank: number): Promise<void> {
    const { client, keyOf } = this.#options
    await client.scanfarmForget(keyOf(`fair:${rank}`), jobNo, owner)
  }

  getCountsPerPriority(ranks: number[]): Promise<Record<string, number>> {
    return this.#options.queue.getCountsPerPriority(ranks)
  }

  remove(id: string): Promise<number> {
    return this.#options.queue.remove(id)
  }

  close(): Promise<void> {
    return this.#options.queue.close()
  }
}
