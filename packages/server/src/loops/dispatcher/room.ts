import type { Priority } from '@scanfarm/contracts'
import type { RunQueue } from '@scanfarm/queue'

/** Most messages of one class and priority in the queue; the rest waits in Postgres, which does not need memory for it. */
const MAX_QUEUED = 20_000
/** Others send too (several masters), so what is known gets old. */
const FRESH_MS = 1_000

export type Room = Readonly<Record<Priority, number>>

interface Count {
  readonly at: number
  readonly room: Record<Priority, number>
}

/**
 * How many more messages of each priority a class may get. Counted in the queue once a second, or when the room that
 * is left is less than asked for; in between, what was sent is subtracted, so the figure errs on the safe side.
 */
export class Rooms {
  readonly #queue: Pick<RunQueue, 'waiting'>
  readonly #maxQueued: number
  readonly #counts = new Map<string, Count>()

  constructor(queue: Pick<RunQueue, 'waiting'>, maxQueued = MAX_QUEUED) {
    this.#queue = queue
    this.#maxQueued = maxQueued
  }

  /** Rejects when the queue cannot be reached. */
  async of(requirementClass: string, wanted: number): Promise<Room> {
    const known = this.#counts.get(requirementClass)
    const fresh = known && performance.now() - known.at < FRESH_MS
    if (fresh && Object.values(known.room).every((room) => room >= wanted)) return known.room
    const waiting = await this.#queue.waiting(requirementClass)
    const left = (priority: Priority) => Math.max(0, this.#maxQueued - waiting[priority])
    const room = {
      critical: left('critical'),
      high: left('high'),
      normal: left('normal'),
      low: left('low'),
    }
    this.#counts.set(requirementClass, { at: performance.now(), room })
    return room
  }

  /** These were sent. */
  used(requirementClass: string, priorities: readonly Priority[]): void {
    const room = this.#counts.get(requirementClass)?.room
    if (room) for (const priority of priorities) room[priority] = Math.max(0, room[priority] - 1)
  }

  /** Nothing is known of the queue any more. */
  forget(): void {
    this.#counts.clear()
  }
}
