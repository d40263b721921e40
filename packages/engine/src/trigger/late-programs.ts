/** Consecutive timeouts after which an expression is suspended. */
const MAX_TIMEOUTS = 3
const SUSPENDED_MS = 10_000
/** Maximum number of remembered expressions; the oldest is evicted first. */
const MAX_KNOWN = 1_000

interface Known {
  late: number
  suspendedUntil: number
}

/**
 * Suspends trigger expressions that repeatedly exceed their time limit. Each attempt costs the whole limit, while the
 * next events wait. A suspended expression fails immediately and is tried again only from time to time.
 */
export class LatePrograms {
  readonly #known = new Map<string, Known>()
  readonly #now: () => number

  /** `now`: a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Throws while the expression is suspended. */
  refuse(source: string): void {
    const known = this.#known.get(source)
    if (known === undefined || known.suspendedUntil <= this.#now()) return
    throw new Error(
      `the expression took too long ${known.late} times in a row and is suspended for ${SUSPENDED_MS / 1000}s`,
    )
  }

  tried(source: string, wasLate: boolean): void {
    const { late = 0 } = this.#known.get(source) ?? {}
    this.#known.delete(source)
    if (!wasLate) return
    this.#known.set(source, {
      late: late + 1,
      suspendedUntil: late + 1 < MAX_TIMEOUTS ? 0 : this.#now() + SUSPENDED_MS,
    })
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest)
  }
}
