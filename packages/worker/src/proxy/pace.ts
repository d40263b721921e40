import { setTimeout as after } from 'node:timers/promises'

const SECOND_MS = 1000
/** How late a turn may be without delaying the next one. */
const LATE_MS = 5
const MOST_IDLE = 1_000

interface Lane {
  last: number
  tail: Promise<void>
}

/**
 * Turns at most so often in a second, by keys, in their order. The first one comes an interval after the beginning:
 * however short the runs are that follow each other with one share, they never exceed it together.
 */
export class Pace {
  readonly #intervalMs: number
  readonly #lanes = new Map<string, Lane>()
  readonly #began = performance.now()

  constructor(rate: number) {
    this.#intervalMs = SECOND_MS / rate
  }

  /** Resolves to whether it got a turn; one that is over when it comes leaves it to the next. */
  async turn(key: string, isOver: () => boolean): Promise<boolean> {
    const lane = this.#lanes.get(key) ?? { last: this.#began, tail: Promise.resolve() }
    if (!this.#lanes.has(key)) this.#forgetIdle()
    this.#lanes.set(key, lane)
    const mine = lane.tail.then(async () => {
      if (isOver()) return false
      const wait = lane.last + this.#intervalMs - performance.now()
      if (wait > 0) await after(wait)
      if (isOver()) return false
      lane.last = Math.max(lane.last + this.#intervalMs, performance.now() - LATE_MS)
      return true
    })
    lane.tail = mine.then(() => undefined)
    return await mine
  }

  #forgetIdle(): void {
    if (this.#lanes.size < MOST_IDLE) return
    const before = performance.now() - this.#intervalMs - SECOND_MS
    for (const [key, { last }] of this.#lanes) if (last < before) this.#lanes.delete(key)
  }
}
