import { setTimeout as after } from 'node:timers/promises'

const SECOND_MS = 1000
/** How late a turn may be without delaying the next one. */
const LATE_MS = 5
const MOST_IDLE = 1_000

interface Queue {
  last: number
  tail: Promise<void>
}

/**
 * Turns at most so often in a second, by keys, in their order. The first one comes an interval after the beginning:
 * however short the runs are that follow each other with one share, they never exceed it together.
 */
export class Pace {
  readonly #intervalMs: number
  readonly #queues = new Map<string, Queue>()
  readonly #began = performance.now()

  constructor(rate: number) {
    this.#intervalMs = SECOND_MS / rate
  }

  /** Resolves to whether it got a turn; one that is over when it comes leaves it to the next. */
  async turn(key: string, isOver: () => boolean): Promise<boolean> {
    const queue = this.#queues.get(key) ?? { last: this.#began, tail: Promise.resolve() }
    if (!this.#queues.has(key)) this.#forgetIdle()
    this.#queues.set(key, queue)
    const mine = queue.tail.then(async () => {
      if (isOver()) return false
      const wait = queue.last + this.#intervalMs - performance.now()
      if (wait > 0) await after(wait)
      if (isOver()) return false
      queue.last = Math.max(queue.last + this.#intervalMs, performance.now() - LATE_MS)
      return true
    })
    queue.tail = mine.then(() => undefined)
    return await mine
  }

  #forgetIdle(): void {
    if (this.#queues.size < MOST_IDLE) return
    const before = performance.now() - this.#intervalMs - SECOND_MS
    for (const [key, { last }] of this.#queues) if (last < before) this.#queues.delete(key)
  }
}
