import { AppError } from '@scanfarm/contracts'

/** Each large file is read by a process that may take 1 GiB. */
const MAX_IMPORTS = 4
const BUSY_RETRY_SECONDS = 5

/** Bounds the imports of findings at the same time. */
export class ImportSlots {
  #taken = 0

  /** Takes a place until it is disposed of; refused with `unavailable` when there is none. */
  enter(): Disposable {
    if (this.#taken >= MAX_IMPORTS)
      throw new AppError('unavailable', `${MAX_IMPORTS} imports are running already; try again`, {
        retryAfter: BUSY_RETRY_SECONDS,
      })
    this.#taken += 1
    return { [Symbol.dispose]: () => void (this.#taken -= 1) }
  }
}
