import { AppError } from '@scanfarm/contracts'

const BUSY_RETRY_SECONDS = 2

/**
 * Limits concurrent and waiting password checks. One slot is reserved for addresses with an earlier successful login,
 * so that other clients cannot occupy all of them.
 */
export class PasswordCheckQueue {
  readonly #most: number
  readonly #mostWaiting: number
  readonly #waiting: { readonly known: boolean; readonly start: () => void }[] = []
  #busy = 0

  constructor({ most, mostWaiting }: { most: number; mostWaiting: number }) {
    this.#most = most
    this.#mostWaiting = mostWaiting
  }

  async run<T>(known: boolean, check: () => Promise<T>): Promise<T> {
    await this.#turn(known)
    try {
      return await check()
    } finally {
      this.#busy -= 1
      this.#next()
    }
  }

  #isFree(known: boolean): boolean {
    return this.#busy < (known ? this.#most : this.#most - 1)
  }

  async #turn(known: boolean): Promise<void> {
    if (this.#isFree(known)) {
      this.#busy += 1
      return
    }
    const before = this.#waiting.filter((one) => one.known === known).length
    if (before >= this.#mostWaiting)
      throw new AppError('unavailable', 'too many logins at once; try again', {
        retryAfter: BUSY_RETRY_SECONDS,
      })
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ known, start: resolve })
    await promise
  }

  #next(): void {
    const index = [true, false]
      .filter((known) => this.#isFree(known))
      .map((known) => this.#waiting.findIndex((one) => one.known === known))
      .find((at) => at !== -1)
    if (index === undefined) return
    const [next] = this.#waiting.splice(index, 1)
    this.#busy += 1
    next?.start()
  }
}
