/** A program that was late so often in a row rests. */
const MOST_LATE = 3
const REST_MS = 10_000
/** More programs than any farm has; beyond it the oldest is forgotten. */
const MOST_KNOWN = 1_000

interface Known {
  late: number
  restsUntil: number
}

/**
 * Programs of triggers that use up their time. Each try costs the whole limit, while the events behind wait for it: so
 * one that is late again and again is tried only now and then, and whoever asks meanwhile is told at once.
 */
export class LatePrograms {
  readonly #known = new Map<string, Known>()
  readonly #now: () => number

  /** `now`: milliseconds of a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Throws while the program rests. */
  refuse(source: string): void {
    const known = this.#known.get(source)
    if (known === undefined || known.restsUntil <= this.#now()) return
    throw new Error(
      `the expression took too long ${known.late} times in a row and is not tried for ${REST_MS / 1000}s`,
    )
  }

  tried(source: string, wasLate: boolean): void {
    const { late = 0 } = this.#known.get(source) ?? {}
    this.#known.delete(source)
    if (!wasLate) return
    this.#known.set(source, { late: late + 1, restsUntil: late + 1 < MOST_LATE ? 0 : this.#now() + REST_MS })
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest)
  }
}
