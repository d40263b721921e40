/** Carries cancels to the local slots of this process, without the way through the database. */
export class LocalCancels {
  readonly #listeners = new Set<(runIds: readonly number[]) => void>()

  cancel(runIds: readonly number[]): void {
    for (const listener of this.#listeners) listener(runIds)
  }

  onCancel(listener: (runIds: readonly number[]) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }
}
