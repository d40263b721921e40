import type { Outcome } from '@scanfarm/contracts'

/** An abort without a reason would create an error with a stack. */
const CLOSED = 'the runner is closed'

/** The commands of a runner that have not ended. */
export class RunningCommands {
  /** Made for the first command, and aborted only if one is executing: both cost each short run. */
  #closing: AbortController | undefined
  #isClosed = false
  readonly #outcomes = new Set<Promise<Outcome>>()

  /** Aborts when the runner closes. Read it in the same turn as the command is added. */
  get closing(): AbortSignal {
    return this.#isClosed ? AbortSignal.abort(CLOSED) : (this.#closing ??= new AbortController()).signal
  }

  async add(outcome: Promise<Outcome>): Promise<Outcome> {
    this.#outcomes.add(outcome)
    try {
      return await outcome
    } finally {
      this.#outcomes.delete(outcome)
    }
  }

  /** Resolves when all have ended. */
  async cancelAll(): Promise<void> {
    this.#isClosed = true
    if (this.#outcomes.size > 0) this.#closing?.abort(CLOSED)
    await Promise.allSettled(this.#outcomes)
  }
}
