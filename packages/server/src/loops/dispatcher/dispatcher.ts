import type { RunQueue } from '@scanfarm/queue'
import type { OutboxRow, Store } from '@scanfarm/store'
import { Rooms } from './room.ts'
import { Served } from './served.ts'

/** Rows of one round: sent within about a tenth of a second. */
const BATCH = 2_000
/** A sent row is still there after this: its dispatcher died before removing it. Longer than a call of the queue takes. */
const STALE_MS = 10_000

export interface DispatcherParts {
  readonly outbox: Pick<Store['outbox'], 'take' | 'takeableClasses' | 'remove'>
  readonly workers: Pick<Store['workers'], 'liveCapabilities'>
  readonly queue: Pick<RunQueue, 'add' | 'waiting'>
  /** Most messages of one class and priority in the queue; missing: 20,000. */
  readonly maxQueued?: number
  /** Told how many rows are in the queue now. */
  onSent?(count: number): void
}

/**
 * Moves ready rows from the outbox to the queue: marked as sent (one short transaction), added, removed (another one).
 * No transaction is open while the queue is spoken to. A crash in between leaves marked rows, which are sent again:
 * the same run and epoch is one message. The only code that enqueues; any number of masters may do it at once.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts
  readonly #rooms: Rooms
  readonly #served: Served
  /** Classes whose last round failed: their marked rows need not grow stale first. */
  readonly #unsure = new Set<string>()

  constructor(parts: DispatcherParts) {
    this.#parts = parts
    this.#rooms = new Rooms(parts.queue, parts.maxQueued)
    this.#served = new Served(parts.workers)
  }

  /**
   * One turn. True when there may be more to send at once. Rejects when the database or the queue is away; no row is
   * marked before the queue has answered.
   */
  async dispatchOnce(): Promise<boolean> {
    const [classes] = await Promise.all([this.#parts.outbox.takeableClasses(), this.#served.refresh()])
    let more = false
    for (const requirementClass of this.#served.among(classes))
      more = (await this.#dispatchClass(requirementClass)) || more
    return more
  }

  async #dispatchClass(requirementClass: string): Promise<boolean> {
    const rows = await this.#parts.outbox.take({
      classes: [requirementClass],
      room: await this.#rooms.of(requirementClass, BATCH),
      limit: BATCH,
      staleMs: this.#unsure.has(requirementClass) ? 0 : STALE_MS,
    })
    this.#unsure.delete(requirementClass)
    if (rows.length > 0) await this.#send(requirementClass, rows)
    return rows.length === BATCH
  }

  async #send(requirementClass: string, rows: readonly OutboxRow[]): Promise<void> {
    try {
      await this.#parts.queue.add(rows)
      await this.#parts.outbox.remove(rows)
    } catch (error) {
      this.#unsure.add(requirementClass)
      this.#rooms.forget()
      throw error
    }
    this.#rooms.used(
      requirementClass,
      rows.map(({ priority }) => priority),
    )
    this.#parts.onSent?.(rows.length)
  }
}
