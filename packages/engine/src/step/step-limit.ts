import { inSeconds } from '@scanfarm/language'

/** Node fires longer timers immediately; limits beyond 24 days are ignored. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Time limit of a step; it also stops the steps inside. */
export class StepLimit {
  readonly #ms: number
  readonly #outer: AbortSignal
  #stop = new AbortController()
  #expired = false

  constructor(ms: number, outer: AbortSignal) {
    this.#ms = ms
    this.#outer = outer
  }

  /** Signal of the current attempt. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  get error(): string | undefined {
    return this.#expired ? `step timed out after ${inSeconds(this.#ms)}s` : undefined
  }

  /** Each attempt has the full time. */
  async within<Result>(work: () => Promise<Result>): Promise<Result> {
    const stop = new AbortController()
    this.#stop = stop
    this.#expired = false
    const end = (): void => stop.abort(this.#outer.reason)
    const expire = (): void => {
      this.#expired = true
      stop.abort('timeout')
    }
    if (this.#outer.aborted) end()
    this.#outer.addEventListener('abort', end, { once: true })
    const timer = this.#ms > LONGEST_TIMER_MS ? undefined : setTimeout(expire, this.#ms)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      this.#outer.removeEventListener('abort', end)
    }
  }
}
