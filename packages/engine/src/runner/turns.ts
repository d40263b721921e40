import { once } from 'node:events'

interface Waiter {
  readonly part: number
  start(): void
}

/**
 * Divides the rate of a run among its commands: each holds its part while it runs. Who comes later waits until the parts
 * of those before leave enough, also if it needs less than the next one.
 */
export class Turns {
  readonly #waiting: Waiter[] = []
  #left: number

  constructor(rate: number) {
    this.#left = rate
  }

  /** A command that is stopped need not wait. */
  async take<T>(part: number, signal: AbortSignal, command: () => Promise<T>): Promise<T> {
    const { promise: turn, resolve } = Promise.withResolvers<undefined>()
    let started = false
    const waiter = {
      part,
      start: () => {
        started = true
        resolve(undefined)
      },
    }
    this.#waiting.push(waiter)
    this.#pass()
    if (!started) {
      using waited = new DisposableStack()
      const over = waited.adopt(new AbortController(), (controller) => controller.abort())
      const stopped = once(signal, 'abort', { signal: over.signal }).catch(() => undefined)
      if (!signal.aborted) await Promise.race([turn, stopped])
    }
    if (!started) this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
    try {
      return await command()
    } finally {
      if (started) this.#left += part
      this.#pass()
    }
  }

  #pass(): void {
    for (let [next] = this.#waiting; next !== undefined && next.part <= this.#left; [next] = this.#waiting) {
      this.#waiting.shift()
      this.#left -= next.part
      next.start()
    }
  }
}
