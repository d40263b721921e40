import type { Priority } from '@scanfarm/contracts'
import type { RunQueue } from '@scanfarm/queue'

/** Maximum messages of one class and priority in the queue; the rest waits in Postgres, where it takes no memory. */
const MAX_QUEUED = 20_000
/** More for new jobs: a small one does not wait until a large one has left room. */
export const ROOM_FOR_NEW = 2_000
/** Other masters send too, so a count expires. */
const FRESH_MS = 1_000

export type Capacity = Readonly<Record<Priority, number>>

interface Count {
  readonly at: number
  readonly capacity: Record<Priority, number>
}

/**
 * How many more messages of each priority a class may get. Counted in the queue once a second, or if less capacity is left
 * than requested. In between, sent messages are subtracted, so the value is never too high by what this process sent.
 * Below 0: new jobs had more.
 */
export class QueueCapacity {
  readonly #queue: Pick<RunQueue, 'waiting'>
  readonly #maxQueued: number
  readonly #counts = new Map<string, Count>()

  constructor(queue: Pick<RunQueue, 'waiting'>, maxQueued = MAX_QUEUED) {
    this.#queue = queue
    this.#maxQueued = maxQueued
  }

  /** Rejects if the queue is unavailable. */
  async of(requirementClass: string, wanted: number): Promise<Capacity> {
    const known = this.#counts.get(requirementClass)
    const fresh = known && performance.now() - known.at < FRESH_MS
    if (fresh && Object.values(known.capacity).every((left) => left >= wanted)) return known.capacity
    const waiting = await this.#queue.waiting(requirementClass)
    const left = (priority: Priority) => this.#maxQueued - waiting[priority]
    const capacity = {
      critical: left('critical'),
      high: left('high'),
      normal: left('normal'),
      low: left('low'),
    }
    this.#counts.set(requirementClass, { at: performance.now(), capacity })
    return capacity
  }

  /** By class, what is left of the last count, however old. */
  get known(): ReadonlyMap<string, Capacity> {
    return new Map([...this.#counts].map(([requirementClass, { capacity }]) => [requirementClass, capacity]))
  }

  /** Subtracts messages that were sent. */
  used(requirementClass: string, priorities: readonly Priority[]): void {
    const capacity = this.#counts.get(requirementClass)?.capacity
    if (capacity) for (const priority of priorities) capacity[priority] -= 1
  }

  /** Discards all counts. */
  forget(): void {
    this.#counts.clear()
  }
}
