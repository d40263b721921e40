import { backOff, reasonOf, type Backoff } from '../retry.ts'

export interface FilingOptions {
  readonly retry: Backoff
  /** Longest time for one piece, retries included. */
  readonly limitMs: number
  /** Aborts when the run is being stopped: what is under way gets no further try. */
  readonly signal: AbortSignal
}

/** Brings the files of one run into the artifact store, one after the other, in the background. */
export class Filing {
  readonly #options: FilingOptions
  #queue: Promise<void> = Promise.resolve()
  #problem = ''
  #stopped = false

  constructor(options: FilingOptions) {
    this.#options = options
  }

  /** `what` names it in the message of a run that fails because of it. */
  add(what: string, work: () => Promise<void>): void {
    this.#queue = this.#queue.then(() => this.#persist(what, work))
  }

  /** Resolves when everything that was added is through, to the first problem or `""`. */
  async settled(): Promise<string> {
    for (let queue; queue !== this.#queue;) {
      queue = this.#queue
      await queue
    }
    return this.#problem
  }

  /** What has not begun never will. */
  stop(): void {
    this.#stopped = true
  }

  async #persist(what: string, work: () => Promise<void>): Promise<void> {
    const { signal, retry, limitMs } = this.#options
    const start = performance.now()
    for (let attempt = 1; !this.#stopped; attempt += 1) {
      try {
        return await work()
      } catch (error) {
        if (signal.aborted || performance.now() - start > limitMs) {
          this.#problem ||= `${what} could not be stored: ${reasonOf(error)}`
          return
        }
        await backOff(attempt, retry, signal)
      }
    }
  }
}
