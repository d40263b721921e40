import type { Priority, WaitingJob } from '@scanfarm/contracts'
import type { Logger } from '@scanfarm/platform'
import type { RunQueue } from '@scanfarm/queue'
import type { VoidMessages } from '@scanfarm/store'

/** Removes messages that claim nothing any more from the queue. Those that cannot be removed do no harm. */
export class VoidMessageRemover {
  readonly #queue: Pick<RunQueue, 'remove' | 'forget'> | undefined
  readonly #log: Logger
  #removals: Promise<void>[] = []

  constructor(queue: Pick<RunQueue, 'remove' | 'forget'> | undefined, log: Logger) {
    this.#queue = queue
    this.#log = log
  }

  /** Starts a removal. Its error is logged when it occurs: the caller may never come to `finish`. */
  readonly remove = (messages: VoidMessages, requirementClass: string): void => {
    this.#start(this.#queue?.remove(messages.map((message) => ({ ...message, requirementClass }))))
  }

  /** All messages of the job with its priority, or with one of others, are void. */
  forget(job: WaitingJob | undefined, priorities: readonly Priority[] = job ? [job.priority] : []): void {
    if (job === undefined) return
    for (const priority of priorities) this.#start(this.#queue?.forget({ ...job, priority }))
  }

  #start(removal: Promise<void> | undefined): void {
    if (removal === undefined) return
    this.#removals.push(
      removal.catch((error: unknown) =>
        this.#log.warn('void messages stay in the queue, or count in shares; they claim nothing', { error }),
      ),
    )
  }

  /** Waits for all removals. */
  async finish(): Promise<void> {
    await Promise.all(this.#removals.splice(0))
  }
}
