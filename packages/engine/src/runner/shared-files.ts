import { RunnerUnavailableError, type Runner } from '@scanfarm/contracts'
import { messageOf } from '@scanfarm/language'

const moved = async (what: string, move: () => Promise<void>): Promise<void> => {
  try {
    await move()
  } catch (error) {
    throw new RunnerUnavailableError(`${what}: ${messageOf(error)}`, { cause: error })
  }
}

/**
 * Synchronizes the run's folder between this machine and its runners. Files are only copied if the other side may have
 * changed since: commands may write there, functions here. Runners that share files with this machine need no copies.
 */
export class SharedFiles {
  readonly #folder: string
  readonly #signal: AbortSignal
  /** The version that each runner last received. */
  readonly #pushed = new Map<Runner, number>()
  readonly #changed = new Set<Runner>()
  #version = 1
  #turn: Promise<void> = Promise.resolve()

  constructor(folder: string, signal: AbortSignal) {
    this.#folder = folder
    this.#signal = signal
  }

  /** Rejects with `RunnerUnavailableError` when the files cannot be copied. */
  async beforeCommand(runner: Runner): Promise<void> {
    if (this.#isUpToDate(runner)) return
    await this.#inTurn(async () => {
      await this.#pullAll([...this.#changed].filter((other) => other !== runner))
      if (runner.sharesFiles || this.#pushed.get(runner) === this.#version) return
      const version = this.#version
      await moved('the files of the run could not be copied to the runner', () =>
        runner.push(this.#folder, this.#signal),
      )
      this.#pushed.set(runner, version)
    })
  }

  afterCommand(runner: Runner): void {
    if (runner.sharesFiles) this.#version++
    else this.#changed.add(runner)
  }

  /** Must be called before this process reads files that commands may have written. */
  async beforeLocal(): Promise<void> {
    if (this.#changed.size === 0) return
    await this.#inTurn(() => this.#pullAll([...this.#changed]))
  }

  /** Must be called before a runner is closed, because its files are lost with it. */
  async beforeClose(runner: Runner): Promise<void> {
    if (this.#changed.has(runner)) await this.#inTurn(() => this.#pullAll([runner]))
  }

  /** Must be called after a runner is closed. */
  forget(runner: Runner): void {
    this.#changed.delete(runner)
    this.#pushed.delete(runner)
  }

  /** Must be called after this process may have written files. */
  afterLocal(): void {
    this.#version++
  }

  /** Whether nothing has changed since the runner last received files. */
  #isUpToDate(runner: Runner): boolean {
    const others = this.#changed.size - (this.#changed.has(runner) ? 1 : 0)
    return others === 0 && (runner.sharesFiles || this.#pushed.get(runner) === this.#version)
  }

  async #pullAll(runners: readonly Runner[]): Promise<void> {
    for (const runner of runners) {
      if (!this.#changed.delete(runner)) continue
      await moved('the files of the run could not be copied back from the runner', () =>
        runner.pull(this.#folder, this.#signal),
      )
      // The files are new to all runners but the one that they come from.
      const knewAll = this.#pushed.get(runner) === this.#version
      this.#version++
      if (knewAll) this.#pushed.set(runner, this.#version)
    }
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => undefined)
    await turn
  }
}
