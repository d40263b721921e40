import type { RunQueue } from '@scanfarm/queue'
import type { Store } from '@scanfarm/store'

/** Runs compared in one step. */
const STEP = 1_000
/** Without a sign of loss only runs are looked at that should have been taken, or are in a long queue. */
const OLD_MS = 60_000
/** Between two such passes. */
const REST_MS = 30_000

export interface LostMessagesParts {
  readonly recovery: Pick<Store['recovery'], 'queuedOutside' | 'enqueueAgain'>
  readonly queue: Pick<RunQueue, 'has' | 'incarnation'>
  /** Told how many runs went back into the outbox, and why they were looked at. */
  onFound?(count: number, reason: 'incarnation' | 'age'): void
}

/**
 * Finds runs that Postgres calls queued and that are neither in the outbox nor in the queue, and puts them into the
 * outbox again. All of them, quickly, when the queue is another one than before (flushed, restarted, failed over) and
 * when this process has just started; otherwise the older ones, by cursor in small steps.
 */
export class LostMessages {
  readonly #parts: LostMessagesParts
  #seen: string | undefined
  #after = 0
  #restUntil = -Infinity

  constructor(parts: LostMessagesParts) {
    this.#parts = parts
  }

  /** One turn. The runs found count as repaired once they are in the outbox; the dispatcher does the rest. */
  async findOnce(signal: AbortSignal): Promise<void> {
    const incarnation = await this.#parts.queue.incarnation()
    if (incarnation !== this.#seen) {
      for (let after: number | undefined = 0; after !== undefined && !signal.aborted;)
        after = await this.#step(after, 0, 'incarnation')
      // Noted only now: a pass that failed half-way is made again.
      if (!signal.aborted) this.#seen = incarnation
      return
    }
    if (performance.now() < this.#restUntil) return
    const next = await this.#step(this.#after, OLD_MS, 'age')
    this.#after = next ?? 0
    if (next === undefined) this.#restUntil = performance.now() + REST_MS
  }

  /** @returns where to go on; undefined at the end of the pass */
  async #step(
    after: number,
    olderThanMs: number,
    reason: 'incarnation' | 'age',
  ): Promise<number | undefined> {
    const { recovery, queue } = this.#parts
    const queued = await recovery.queuedOutside({ after, limit: STEP, olderThanMs })
    const there = await queue.has(queued)
    const lost = queued.filter((_, index) => there[index] === false)
    // One that was claimed since is not queued any more, which the statement sees.
    const count = lost.length > 0 ? await recovery.enqueueAgain(lost) : 0
    if (count > 0) this.#parts.onFound?.(count, reason)
    return queued.length < STEP ? undefined : queued.at(-1)?.runId
  }
}
