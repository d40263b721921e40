import type { RunQueue } from '@scanfarm/queue'
import type { Store } from '@scanfarm/store'

/** Runs compared in one step. */
const STEP = 1_000
/** Without a sign of loss only runs queued for longer than this are checked. */
const OLD_MS = 60_000
/** Pause between two such passes. */
const REST_MS = 30_000

export interface LostMessagesParts {
  readonly recovery: Pick<Store['recovery'], 'queuedOutside' | 'enqueueAgain'>
  readonly queue: Pick<RunQueue, 'has' | 'generation'>
  /** Receives how many runs went back into the outbox, and why they were checked. */
  onFound?(count: number, reason: 'generation' | 'age'): void
}

/**
 * Finds runs with the status queued that are neither in the outbox nor in the queue, and puts them back into the
 * outbox. All queued runs are checked after this process has started and when the queue has a new generation (flushed,
 * restarted, failed over). Otherwise older runs are checked in small steps.
 */
export class LostMessages {
  readonly #parts: LostMessagesParts
  #seen: string | undefined
  #after = 0
  #restUntil = -Infinity

  constructor(parts: LostMessagesParts) {
    this.#parts = parts
  }

  /** One turn. Runs count as repaired once they are in the outbox; the dispatcher sends them. */
  async findOnce(signal: AbortSignal): Promise<void> {
    const generation = await this.#parts.queue.generation()
    if (generation !== this.#seen) {
      for (let after: number | undefined = 0; after !== undefined && !signal.aborted;)
        after = await this.#step(after, 0, 'generation')
      // Set after the pass, so that a pass that failed is repeated.
      if (!signal.aborted) this.#seen = generation
      return
    }
    if (performance.now() < this.#restUntil) return
    const next = await this.#step(this.#after, OLD_MS, 'age')
    this.#after = next ?? 0
    if (next === undefined) this.#restUntil = performance.now() + REST_MS
  }

  /** @returns the cursor of the next step; undefined at the end of the pass */
  async #step(after: number, olderThanMs: number, reason: 'generation' | 'age'): Promise<number | undefined> {
    const { recovery, queue } = this.#parts
    const queued = await recovery.queuedOutside({ after, limit: STEP, olderThanMs })
    const there = await queue.has(queued)
    const lost = queued.filter((_, index) => there[index] === false)
    // The statement skips runs that were claimed in the meantime.
    const count = lost.length > 0 ? await recovery.enqueueAgain(lost) : 0
    if (count > 0) this.#parts.onFound?.(count, reason)
    return queued.length < STEP ? undefined : queued.at(-1)?.runId
  }
}
