import type { Backoff } from '@scanfarm/contracts'
import { errorText, retry } from '@scanfarm/platform'

export interface UploadQueueOptions {
  readonly backoff: Backoff
  /** Longest time for one upload, retries included. */
  readonly limitMs: number
  /** Aborts when the run is being stopped: a failing upload is tried at most once more. */
  readonly signal: AbortSignal
}

/** Uploads the files of one run to the artifact store, one after the other, in the background. */
export class UploadQueue {
  readonly #options: UploadQueueOptions
  #last: Promise<void> = Promise.resolve()
  #problem = ''
  #closed = false

  constructor(options: UploadQueueOptions) {
    this.#options = options
  }

  /** `what` names the upload in the error message of a run that fails because of it. */
  add(what: string, upload: () => Promise<void>): void {
    this.#last = this.#last.then(() => this.#run(what, upload))
  }

  /** Resolves when the queue is empty, to the first problem or `""`. */
  async settled(): Promise<string> {
    for (let last; last !== this.#last;) {
      last = this.#last
      await last
    }
    return this.#problem
  }

  /** Drops uploads that have not begun. */
  close(): void {
    this.#closed = true
  }

  async #run(what: string, upload: () => Promise<void>): Promise<void> {
    const { signal, backoff, limitMs } = this.#options
    const start = performance.now()
    const shouldRetry = (): boolean => performance.now() - start <= limitMs
    try {
      await retry(async () => (this.#closed ? undefined : await upload()), { backoff, signal, shouldRetry })
    } catch (error) {
      this.#problem ||= `${what} could not be stored: ${errorText(error)}`
    }
  }
}
