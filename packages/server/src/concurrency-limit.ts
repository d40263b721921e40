import { AppError } from '@scanfarm/contracts'

const BUSY_RETRY_SECONDS = 5

/** Limits how many operations of one kind a server runs at the same time. */
export class ConcurrencyLimit {
  readonly #most: number
  readonly #work: string
  #taken = 0

  /** `work` names the operations in the plural, for the error message. */
  constructor(most: number, work: string) {
    this.#most = most
    this.#work = work
  }

  /** Holds one slot until disposed. Throws `unavailable` if all slots are taken. */
  acquire(): Disposable {
    if (this.#taken >= this.#most)
      throw new AppError('unavailable', `${this.#most} ${this.#work} are running already; try again`, {
        retryAfter: BUSY_RETRY_SECONDS,
      })
    this.#taken += 1
    return { [Symbol.dispose]: () => void (this.#taken -= 1) }
  }
}
