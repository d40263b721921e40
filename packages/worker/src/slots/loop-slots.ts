import { addAbortListener } from 'node:events'
interface Ports {
  /** Slots that neither a run nor a loop uses. */
  free(): number
  /** Whether runs may be taken now. */
  takesRuns(): boolean
  /** Takes a run that waits, and otherwise calls `noRuns` at once. */
  askForRuns(): void
  /** Fewer slots are free. */
  onTaken(): void
  /** More slots are free: runs that were claimed already begin. */
  onFreed(): void
}

/** The queue is asked for runs at most this often before a loop takes a free slot. */
const ASK_EVERY_MS = 100

/**
 * Slots for further threads of loops. A loop takes one for each item, so that a run that waits in the queue begins when the
 * next item has ended. Loops take turns.
 */
export class LoopSlots {
  readonly #ports: Ports
  /** In the order of their requests. */
  readonly #waiting = new Set<(slot: Disposable) => void>()
  #taken = 0
  #askedAt = Number.NEGATIVE_INFINITY
  #isNoting = false

  constructor(ports: Ports) {
    this.#ports = ports
  }

  get taken(): number {
    return this.#taken
  }

  /** Whether a loop waits for a slot. */
  get areWanted(): boolean {
    return this.#waiting.size > 0
  }

  /** Resolves to a slot, which is disposed of after the item, or to undefined when aborted before. */
  async take(signal: AbortSignal): Promise<Disposable | undefined> {
    if (signal.aborted) return undefined
    const { promise, resolve } = Promise.withResolvers<Disposable | undefined>()
    using _listener = addAbortListener(signal, () => {
      this.#waiting.delete(resolve)
      resolve(undefined)
    })
    this.#waiting.add(resolve)
    this.offer()
    return await promise
  }

  /** Slots may be free. Runs come first. */
  offer(): void {
    if (!this.areWanted || this.#ports.free() <= 0) return
    const isKnown = performance.now() - this.#askedAt < ASK_EVERY_MS
    if (isKnown || !this.#ports.takesRuns()) this.#grant()
    else this.#ports.askForRuns()
  }

  /** No run waits. Returns whether a loop has got a slot. */
  noRuns(): boolean {
    this.#askedAt = performance.now()
    return this.#grant()
  }

  #grant(): boolean {
    const before = this.#taken
    for (const resolve of this.#waiting) {
      if (this.#ports.free() <= 0) break
      this.#waiting.delete(resolve)
      this.#taken += 1
      resolve({ [Symbol.dispose]: () => this.#free() })
    }
    if (this.#taken > before) this.#ports.onTaken()
    return this.#taken > before
  }

  #free(): void {
    this.#taken -= 1
    this.offer()
    if (this.#isNoting) return
    // The thread may take a slot again at once.
    this.#isNoting = true
    setImmediate(() => {
      this.#isNoting = false
      if (this.#ports.free() > 0) this.#ports.onFreed()
    })
  }
}
