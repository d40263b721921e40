import { RunnerUnavailableError, type Runner } from '@scanfarm/contracts'
import { messageOf } from '../fault.ts'

const moved = async (what: string, move: () => Promise<void>): Promise<void> => {
  try {
    await move()
  } catch (error) {
    throw new RunnerUnavailableError(`${what}: ${messageOf(error)}`, { cause: error })
  }
}

/**
 * Keeps the run's folder the same on this machine and where commands run, moving it only when the other side has
 * done something since: commands may have written there, functions here. Runners that see our files need none of it.
 */
export class SharedFiles {
  readonly #folder: string
  readonly #signal: AbortSignal
  /** What was last brought to each runner. */
  readonly #pushed = new Map<Runner, number>()
  readonly #changed = new Set<Runner>()
  #version = 1
  #turn: Promise<void> = Promise.resolve()

  constructor(folder: string, signal: AbortSignal) {
    this.#folder = folder
    this.#signal = signal
  }

  /** Rejects with `RunnerUnavailableError` when the files cannot be brought there. */
  async beforeCommand(runner: Runner): Promise<void> {
    if (this.#isUpToDate(runner)) return
    await this.#inTurn(async () => {
      await this.#pullAll([...this.#changed].filter((other) => other !== runner))
      if (runner.sharesFiles || this.#pushed.get(runner) === this.#version) return
      const version = this.#version
      await moved('the files of the run could not be brought to where commands run', () =>
        runner.push(this.#folder, this.#signal),
      )
      this.#pushed.set(runner, version)
    })
  }

  afterCommand(runner: Runner): void {
    if (runner.sharesFiles) this.#version++
    else this.#changed.add(runner)
  }

  /** Before anything here reads what commands may have written. */
  async beforeLocal(): Promise<void> {
    if (this.#changed.size === 0) return
    await this.#inTurn(() => this.#pullAll([...this.#changed]))
  }

  /** Before a runner is closed: what is there would be gone with it. */
  async beforeClose(runner: Runner): Promise<void> {
    if (this.#changed.has(runner)) await this.#inTurn(() => this.#pullAll([runner]))
  }

  /** The runner is closed; nothing can be brought there or back any more. */
  forget(runner: Runner): void {
    this.#changed.delete(runner)
    this.#pushed.delete(runner)
  }

  /** After anything here that may have written. */
  afterLocal(): void {
    this.#version++
  }

  /** Nothing was done elsewhere since files were last brought there. */
  #isUpToDate(runner: Runner): boolean {
    const others = this.#changed.size - (this.#changed.has(runner) ? 1 : 0)
    return others === 0 && (runner.sharesFiles || this.#pushed.get(runner) === this.#version)
  }

  async #pullAll(runners: readonly Runner[]): Promise<void> {
    for (const runner of runners) {
      if (!this.#changed.delete(runner)) continue
      await moved('the files of the run could not be brought back', () =>
        runner.pull(this.#folder, this.#signal),
      )
      // New to all others, and not to where it comes from.
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
