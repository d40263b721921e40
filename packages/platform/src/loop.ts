import type { Logger } from './logger.ts'

export interface LoopOptions {
  readonly name: string
  /** Time between the end of a turn and the next one. */
  readonly intervalMs: number
  /**
   * One turn. `true`: there is more to do, so the next turn follows at once. Turns never overlap. The signal aborts
   * when the loop is being stopped.
   */
  turn(signal: AbortSignal): Promise<boolean | void>
  readonly log: Logger
  /** After a failed turn the wait doubles from the first to the second figure; `wake()` does not cut it short. */
  readonly backoffMs?: { readonly first: number; readonly most: number }
}

const DEFAULT_BACKOFF = { first: 100, most: 30_000 }

/** Runs a turn on a timer and whenever it is woken. Disposing waits for the turn in flight. */
export class Loop implements AsyncDisposable {
  readonly #options: LoopOptions
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined
  #woken = false
  #failures = 0
  #ring: (() => void) | undefined

  constructor(options: LoopOptions) {
    this.#options = options
  }

  /** The first turn begins at once. Calling it again changes nothing. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** Makes the next turn follow at once; during a turn: once more after it. */
  wake(): void {
    this.#woken = true
    if (this.#failures === 0) this.#ring?.()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#ring?.()
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
    const { first, most } = this.#options.backoffMs ?? DEFAULT_BACKOFF
    return Math.min(first * 2 ** (this.#failures - 1), most)
  }

  async #wait(): Promise<void> {
    if (this.#woken && this.#failures === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.#waitMs())
    this.#ring = resolve
    await promise
    this.#ring = undefined
    clearTimeout(timer)
  }
}
