import { inSeconds } from './duration.ts'
import type { StepRun } from './place.ts'
import { failed, type BadEnd } from './step-end.ts'

/** Node fires at once what is set further ahead than this; a limit beyond 24 days is none. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** The time that a step has for all of its work; what it contains stops with it. */
export class StepLimit {
  readonly #ms: number
  readonly #outer: AbortSignal
  #stop = new AbortController()
  #expired = false

  constructor(ms: number, outer: AbortSignal) {
    this.#ms = ms
    this.#outer = outer
  }

  /** Of the attempt that is under way. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  get error(): string | undefined {
    return this.#expired ? `step timed out after ${inSeconds(this.#ms)}s` : undefined
  }

  /** Each attempt has the whole time. */
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

/** What stops the work of a step: the run's end, or that of the time which the step or one around it has. */
export const signalOf = (at: StepRun): AbortSignal => at.limits.at(-1)?.signal ?? at.module.run.signal

/** How a step ends that was stopped. */
export const interruption = (at: StepRun): BadEnd => {
  const { run } = at.module
  const error = run.signal.aborted
    ? undefined
    : at.limits.findLast((limit) => limit.error !== undefined)?.error
  return error === undefined ? run.interruption() : failed(error)
}
