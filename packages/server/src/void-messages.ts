import type { Logger } from '@scanfarm/platform'
import type { RunQueue } from '@scanfarm/queue'
import type { VoidMessages } from '@scanfarm/store'

/** Removes messages that claim nothing any more from the queue. Those that cannot be removed do no harm. */
export class VoidMessageRemover {
  readonly #queue: Pick<RunQueue, 'remove'> | undefined
  readonly #log: Logger
  #removals: Promise<void>[] = []

  constructor(queue: Pick<RunQueue, 'remove'> | undefined, log: Logger) {
    this.#queue = queue
    this.#log = log
  }

  readonly remove = (messages: VoidMessages, requirementClass: string): void => {
    if (this.#queue)
      this.#removals.push(this.#queue.remove(messages.map((message) => ({ ...message, requirementClass }))))
  }

  /** Waits for all removals. */
  async finish(): Promise<void> {
    for (const removal of await Promise.allSettled(this.#removals))
      if (removal.status === 'rejected')
        this.#log.warn('void messages stay in the queue; they claim nothing', {
          error: removal.reason,
        })
    this.#removals = []
  }
}
