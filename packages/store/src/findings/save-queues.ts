/** Saves batches of an import at the same time, but what has the same identity in the order of the batches. */
export class SaveQueues implements AsyncDisposable {
  #last: readonly Promise<unknown>[] = [Promise.resolve(), Promise.resolve()]

  /** `parts`: one for each queue, without an identity in common; or a single one with identities of any queue. */
  save<Part, Saved>(parts: readonly Part[], save: (part: Part) => Promise<Saved>): Promise<Saved[]> {
    const isSingle = parts.length === 1
    const before = isSingle ? [allOf(this.#last)] : this.#last
    const saved = parts.map(async (part, queue) => {
      await before[queue]
      return save(part)
    })
    // The caller gets the errors.
    for (const one of saved) one.catch(() => undefined)
    this.#last = this.#last.map((last, queue) => saved[isSingle ? 0 : queue] ?? last)
    return Promise.all(saved)
  }

  /** Waits for what is still being saved. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#last)
  }
}

/** Also waits for the others if one fails. */
const allOf = async (promises: readonly Promise<unknown>[]): Promise<void> => {
  await Promise.allSettled(promises)
  await Promise.all(promises)
}
