import { AppError } from '@scanfarm/contracts'

const BUSY_RETRY_SECONDS = 5

/** Bounds how much work of one kind a server does at the same time. */
export class Slots {
  readonly #most: number
  readonly #work: string
  #taken = 0

  /** `work`: what it is, in the plural, for the refusal. */
  constructor(most: number, work: string) {
    this.#most = most
    this.#work = work
  }

  /** Takes a place until it is disposed of; refused with `unavailable` when there is none. */
  enter(): Disposable {
    if (this.#taken >= this.#most)
      throw new AppError('unavailable', `${this.#most} ${this.#work} are running already; try again`, {
        retryAfter: BUSY_RETRY_SECONDS,
      })
    this.#taken += 1
    return { [Symbol.dispose]: () => void (this.#taken -= 1) }
  }
}
