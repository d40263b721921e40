import { canServe, needsOf } from '@scanfarm/contracts'
import type { RunQueue } from '@scanfarm/queue'
import type { OutboxRow, Store } from '@scanfarm/store'
import { QueueCapacity, ROOM_FOR_NEW, type Capacity } from './queue-capacity.ts'

/** Rows of one batch, sent within about 100 ms. */
const BATCH = 2_000
/** Rows marked as sent for longer were left by a dispatcher that died. Longer than a queue call takes. */
const STALE_MS = 10_000

export interface DispatcherParts {
  readonly outbox: Pick<Store['outbox'], 'take' | 'takeableClasses' | 'remove'>
  readonly workers: Pick<Store['workers'], 'liveCapabilities'>
  readonly queue: Pick<RunQueue, 'add' | 'waiting'>
  /** Maximum messages of one class and priority in the queue, those of new jobs aside; 20,000 if missing. */
  readonly maxQueued?: number
  /** Receives the number of rows that were added to the queue. */
  onSent?(count: number): void
}

/**
 * Moves ready rows from the outbox to the queue: marks them as sent (one short transaction), adds them, removes them
 * (another one). No transaction is open during queue calls. A crash in between leaves marked rows, which are sent
 * again: the same run and epoch is one message. This is the only code that enqueues; any number of masters may run it.
 * A submit may store its rows as sent: then the master that accepted the job adds them at once (`reserve`, `send`).
 */
export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #capacity: QueueCapacity
  readonly #servable: ServableClasses
  /** Classes whose last batch failed: their marked rows are retried without waiting until they are stale. */
  readonly #failed = new Set<string>()
  /** Rows of `send` that are in the queue and have to be removed from the outbox. */
  #added: OutboxRow[] = []

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#capacity = new QueueCapacity(parts.queue, parts.maxQueued)
    this.#servable = new ServableClasses(parts.workers)
  }

  /**
   * One turn. Returns true if there may be more to send. Rejects if the database or the queue is unavailable; no row is
   * marked before the queue has answered.
   */
  async dispatchOnce(): Promise<boolean> {
    await this.#removeAdded()
    let more = this.#added.length > 0
    const [classes] = await Promise.all([this.#parts.outbox.takeableClasses(), this.#servable.refresh()])
    for (const requirementClass of this.#servable.among(classes))
      more = (await this.#dispatchClass(requirementClass)) || more
    return more
  }

  /** How many runs of each class and priority may be stored as sent; nothing for classes that `reserve` does not know. */
  get capacities(): Readonly<Record<string, Capacity>> {
    const servable = new Set(this.#servable.among([...this.#capacity.known.keys()]))
    return Object.fromEntries([...this.#capacity.known].filter(([one]) => servable.has(one)))
  }

  /** Whether a live worker is known to serve the class. */
  serves(requirementClass: string): boolean {
    return this.#servable.among([requirementClass]).length > 0
  }

  /** How many runs of a new job may be stored as sent; 0 while no live worker is known to serve the class. */
  reserve({ requirementClass, priority }: Pick<OutboxRow, 'requirementClass' | 'priority'>): number {
    const capacity = this.#capacity.known.get(requirementClass)
    return capacity && this.serves(requirementClass) ? capacity[priority] + ROOM_FOR_NEW : 0
  }

  /**
   * Adds rows of one class that were stored as sent. They are removed in the next turn, because that would delay the
   * worker's claim, which removes them too. Never rejects: after a failure the next turn takes them as stale.
   */
  async send(rows: readonly OutboxRow[]): Promise<void> {
    const [first] = rows
    if (first === undefined) return
    try {
      await this.#add(first.requirementClass, rows)
      this.#added.push(...rows)
      await this.#capacity.of(first.requirementClass, BATCH)
    } catch {
      // The next turn meets the same error and reports it.
      this.#noteFailure(first.requirementClass)
    }
  }

  async #removeAdded(): Promise<void> {
    const rows = this.#added.splice(0, BATCH)
    try {
      if (rows.length > 0) await this.#parts.outbox.remove(rows)
    } catch (error) {
      this.#added.push(...rows)
      throw error
    }
  }

  async #dispatchClass(requirementClass: string): Promise<boolean> {
    const rows = await this.#parts.outbox.take({
      classes: [requirementClass],
      capacity: await this.#capacity.of(requirementClass, BATCH),
      limit: BATCH,
      staleMs: this.#failed.has(requirementClass) ? 0 : STALE_MS,
    })
    this.#failed.delete(requirementClass)
    if (rows.length > 0) await this.#send(requirementClass, rows)
    return rows.length === BATCH
  }

  async #send(requirementClass: string, rows: readonly OutboxRow[]): Promise<void> {
    try {
      await this.#add(requirementClass, rows)
      await this.#parts.outbox.remove(rows)
    } catch (error) {
      this.#noteFailure(requirementClass)
      throw error
    }
  }

  #noteFailure(requirementClass: string): void {
    this.#failed.add(requirementClass)
    this.#capacity.forget()
  }

  async #add(requirementClass: string, rows: readonly OutboxRow[]): Promise<void> {
    this.#capacity.used(
      requirementClass,
      rows.map(({ priority }) => priority),
    )
    await this.#parts.queue.add(rows)
    this.#parts.onSent?.(rows.length)
  }
}

/** Maximum delay until a worker that joined receives its first runs. */
const FRESH_MS = 500

/** Knows which classes a live worker can run. Other classes stay in the outbox, where they are visible. */
export class ServableClasses {
  readonly #workers: Pick<Store['workers'], 'liveCapabilities'>
  #capabilities: readonly (readonly string[])[] = []
  #readAt = -Infinity

  constructor(workers: Pick<Store['workers'], 'liveCapabilities'>) {
    this.#workers = workers
  }

  /** Does nothing while the cached value is fresh. */
  async refresh(): Promise<void> {
    if (performance.now() - this.#readAt < FRESH_MS) return
    this.#capabilities = await this.#workers.liveCapabilities()
    this.#readAt = performance.now()
  }

  among(classes: readonly string[]): string[] {
    return classes.filter((requirementClass) => {
      const needs = needsOf(requirementClass)
      return this.#capabilities.some((words) => canServe(words, needs))
    })
  }
}
