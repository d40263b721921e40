import { randomUUID } from 'node:crypto'
import type { Received, Receiver } from '../backend.ts'

/** The part of a BullMQ job that is used. */
interface Job {
  readonly id?: string
  readonly data: unknown
  moveToCompleted(value: string, token: string, fetchNext: false): Promise<unknown>
  moveToWait(token: string): Promise<unknown>
}

/** The part of a BullMQ worker, without a processor, that is used. */
interface JobWorker {
  getNextJob(token: string, options: { block: false }): Promise<Job | undefined>
  getBackend(): { moveStalledJobsToWait(): Promise<string[]> }
  close(force: boolean): Promise<void>
}

/** Takes messages one by one through BullMQ. */
export class PostgresReceiver implements Receiver {
  readonly #worker: JobWorker
  readonly #token = randomUUID()
  readonly #taken = new Map<string, Job>()

  constructor(worker: JobWorker) {
    this.#worker = worker
  }

  /** Rejects only if nothing was taken. */
  async take(max: number): Promise<Received[]> {
    const results = await Promise.allSettled(
      Array.from({ length: max }, () => this.#worker.getNextJob(this.#token, { block: false })),
    )
    const jobs = results.flatMap((result) =>
      result.status === 'fulfilled' && result.value ? [result.value] : [],
    )
    const failed = results.find((result) => result.status === 'rejected')
    if (jobs.length === 0 && failed) throw failed.reason
    return jobs.map((job) => {
      const id = job.id ?? ''
      this.#taken.set(id, job)
      return { id, data: job.data }
    })
  }

  async settle(ids: readonly string[], how: 'remove' | 'return'): Promise<void> {
    const jobs = ids.flatMap((id) => this.#taken.get(id) ?? [])
    for (const id of ids) this.#taken.delete(id)
    const settled = await Promise.allSettled(
      jobs.map((job) =>
        how === 'remove' ? job.moveToCompleted('', this.#token, false) : job.moveToWait(this.#token),
      ),
    )
    for (const one of settled) if (one.status === 'rejected') throw one.reason
  }

  returnAbandoned(): Promise<string[]> {
    return this.#worker.getBackend().moveStalledJobsToWait()
  }

  close(): Promise<void> {
    return this.#worker.close(true)
  }
}
