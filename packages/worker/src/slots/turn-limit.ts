/**
 * Limits how much begins in one turn of the event loop. Work that begins and ends without waiting for anything would
 * otherwise hold back input and output until all of it is done.
 */
export class TurnLimit {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #entered = 0
  #hasNextTurn = false

  /** `most`: how many callers of `enter` go on in one turn. */
  constructor(most: number) {
    this.#most = most
  }

  /** Resolves at once for the first callers of a turn, and in the following turns for the others, in their order. */
  async enter(): Promise<void> {
    if (!this.#hasNextTurn) this.#planNextTurn()
    if (this.#entered < this.#most) this.#entered += 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #planNextTurn(): void {
    this.#hasNextTurn = true
    setImmediate(() => this.#nextTurn())
  }

  #nextTurn(): void {
    const next = this.#waiting.splice(0, this.#most)
    this.#entered = next.length
    this.#hasNextTurn = false
    if (next.length > 0) this.#planNextTurn()
    for (const resolve of next) resolve()
  }
}
