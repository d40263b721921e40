import type { Logger } from './logger.ts'
import { backoffMs, type Backoff } from '@scanfarm/contracts'

export interface LoopOptions {
  readonly name: string
  /** Time between the end of a turn and the next one. */
  readonly intervalMs: number
  /**
   * One turn. Returns `true` if there is more to do: the next turn follows at once. Turns never overlap. The signal
   * aborts when the loop is stopped.
   */
  turn(signal: AbortSignal): Promise<boolean | void>
  readonly log: Logger
  /** The waits after failed turns, which `wake()` does not shorten. */
  readonly backoff?: Backoff
}

const DEFAULT_BACKOFF = { firstMs: 100, mostMs: 30_000 }

/** Runs a turn on a timer and whenever it is woken. Disposing waits for the turn in flight. */
export class Loop implements AsyncDisposable {
  readonly #options: LoopOptions
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined
  #woken = false
  #failures = 0
  #endWait: (() => void) | undefined

  constructor(options: LoopOptions) {
    this.#options = options
  }

  /** Starts the first turn at once. Further calls have no effect. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** Starts the next turn at once, or directly after the turn in flight. */
  wake(): void {
    this.#woken = true
    if (this.#failures === 0) this.#endWait?.()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#endWait?.()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#woken = false
      const more = await this.#turn()
      if (!more && !this.#stop.signal.aborted) await this.#wait()
    }
  }

  async #turn(): Promise<boolean> {
    try {
      const more = await this.#options.turn(this.#stop.signal)
      this.#failures = 0
      return more === true
    } catch (error) {
      if (this.#stop.signal.aborted) return false
      this.#failures += 1
      this.#options.log.error('a turn of a loop failed', {
        loop: this.#options.name,
        failures: this.#failures,
        retry_ms: this.#waitMs(),
        error,
      })
      return false
    }
  }

  #waitMs(): number {
    if (this.#failures === 0) return this.#options.intervalMs
    return backoffMs(this.#failures, this.#options.backoff ?? DEFAULT_BACKOFF)
  }

  async #wait(): Promise<void> {
    if (this.#woken && this.#failures === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.#waitMs())
    this.#endWait = resolve
    await promise
    this.#endWait = undefined
    clearTimeout(timer)
  }
}

/** One of several loops. */
export interface LoopSpec extends Omit<LoopOptions, 'log'> {
  /** `wake` of all loops wakes it. */
  readonly isUrgent?: boolean
}

export interface Loops extends AsyncDisposable {
  /** The urgent loops begin a turn without waiting for their interval. */
  wake(): void
}

/** Starts loops. Disposing waits for the turns in flight. */
export const startLoops = (specs: readonly LoopSpec[], log: Logger): Loops => {
  const loops = specs.map((spec) => new Loop({ ...spec, log }))
  const urgent = loops.filter((_, index) => specs[index]?.isUrgent === true)
  for (const loop of loops) loop.start()
  return {
    wake() {
      for (const loop of urgent) loop.wake()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()))
    },
  }
}
