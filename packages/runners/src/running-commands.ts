import type { Outcome } from '@scanfarm/contracts'

/** An abort without a reason creates an error with a stack for each run. */
const CLOSED = 'the runner is closed'

/** The commands of a runner that have not ended. */
export class RunningCommands {
  readonly #closing = new AbortController()
  readonly #outcomes = new Set<Promise<Outcome>>()

  /** Aborts when the runner closes. */
  get closing(): AbortSignal {
    return this.#closing.signal
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
    this.#closing.abort(CLOSED)
    await Promise.allSettled(this.#outcomes)
  }
}
