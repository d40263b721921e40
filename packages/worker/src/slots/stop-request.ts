import { startTimer } from './session.ts'

/** The wish of an operator that the program ends: after its last run, or when the time to wait for its runs is over. */
export class StopRequest implements Disposable {
  readonly #requested = Promise.withResolvers<'stop requested'>()
  #timer: Disposable | undefined

  get requested(): Promise<'stop requested'> {
    return this.#requested.promise
  }

  /** Replaces the time of an earlier call. */
  waitFor(drainMs: number): void {
    this[Symbol.dispose]()
    this.#timer = startTimer(drainMs, () => this.#requested.resolve('stop requested'))
  }

  /** No run is left and no claim is pending. */
  noteIdle(): void {
    if (this.#timer !== undefined) this.#requested.resolve('stop requested')
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
  }
}
