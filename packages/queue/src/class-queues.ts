import type { Backend, OpenQueue, Redelivery } from './backend.ts'
import { queueName } from './names.ts'

/** Maximum age of the list of classes in use: the delay until a new class is noticed. */
const REFRESH_MS = 1_000

/** The queues of one consumer: the empty class, and each class in use that it serves now. */
export class ClassQueues {
  readonly #backend: Backend
  readonly #farmId: string
  readonly #serves: (requirementClass: string) => boolean
  readonly #redelivery: Redelivery
  readonly #open = new Map<string, OpenQueue>()
  #readAt = -Infinity

  constructor(
    backend: Backend,
    options: { farmId: string; serves(requirementClass: string): boolean; redelivery: Redelivery },
  ) {
    this.#backend = backend
    this.#farmId = options.farmId
    this.#serves = (requirementClass) => options.serves(requirementClass)
    this.#redelivery = options.redelivery
  }

  /** The open queues, without a call to the backend. */
  get known(): OpenQueue[] {
    return [...this.#open.values()]
  }

  /** The queues to receive from now. */
  async current(): Promise<OpenQueue[]> {
    if (performance.now() - this.#readAt > REFRESH_MS) await this.#refresh()
    return [...this.#open].flatMap(([requirementClass, queue]) =>
      this.#serves(requirementClass) ? [queue] : [],
    )
  }

  async close(): Promise<void> {
    await Promise.all(this.known.map(({ receiver }) => receiver.close()))
    this.#open.clear()
  }

  async #refresh(): Promise<void> {
    for (const [requirementClass, { receiver }] of this.#open) {
      if (this.#serves(requirementClass)) continue
      this.#open.delete(requirementClass)
      await receiver.close()
    }
    for (const requirementClass of new Set(['', ...(await this.#backend.classes())])) {
      if (this.#open.has(requirementClass) || !this.#serves(requirementClass)) continue
      const name = queueName(this.#farmId, requirementClass)
      const receiver = await this.#backend.receiver(name, this.#redelivery)
      this.#open.set(requirementClass, { name, receiver })
    }
    this.#readAt = performance.now()
  }
}
