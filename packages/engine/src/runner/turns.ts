import { once } from 'node:events'

/** Lets commands that share a rate run one after the other, in the order in which they come. */
export class Turns {
  /** Connections or requests a second of the command whose turn it is. */
  readonly rate: number
  readonly #waiting: (() => void)[] = []
  #onWait: (() => void) | undefined
  #isTaken = false

  /** `onWait` is called once, when the first command has to wait. */
  constructor(rate: number, onWait?: () => void) {
    this.rate = rate
    this.#onWait = onWait
  }

  /** A command that is stopped need not wait. */
  async take<T>(signal: AbortSignal, command: () => Promise<T>): Promise<T> {
    const { promise: turn, resolve } = Promise.withResolvers<undefined>()
    let isMine = false
    const start = (): void => {
      isMine = true
      resolve(undefined)
    }
    this.#waiting.push(start)
    this.#pass()
    if (!isMine) {
      this.#onWait?.()
      this.#onWait = undefined
      using waited = new DisposableStack()
      const over = waited.adopt(new AbortController(), (controller) => controller.abort())
      const stopped = once(signal, 'abort', { signal: over.signal }).catch(() => undefined)
      if (!signal.aborted) await Promise.race([turn, stopped])
    }
    if (!isMine) this.#waiting.splice(this.#waiting.indexOf(start), 1)
    try {
      return await command()
    } finally {
      if (isMine) this.#isTaken = false
      this.#pass()
    }
  }

  #pass(): void {
    if (this.#isTaken) return
    const next = this.#waiting.shift()
    this.#isTaken = next !== undefined
    next?.()
  }
}
