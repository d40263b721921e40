/** The end of a run waits this long for further ones, to be written with them. */
const DELAY_MS = 100

interface Group {
  readonly ended: Promise<void>
  end(): void
}

/** Ends of runs that are written together. Without signals: they and their errors cost as much as a short run. */
export class CommitDelay {
  #group: Group | undefined

  /** Resolves when the present group is written. */
  async wait(): Promise<void> {
    this.#group ??= this.#start()
    await this.#group.ended
  }

  /** Ends the present group, if any. */
  end(): void {
    this.#group?.end()
  }

  #start(): Group {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => this.#group?.end(), DELAY_MS)
    const end = (): void => {
      clearTimeout(timer)
      this.#group = undefined
      resolve()
    }
    return { ended, end }
  }
}
