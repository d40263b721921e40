import { Lane, type ShellChannel } from './lane.ts'

/** Lends shells, opening new ones as they are needed, at most `most` at once; who finds none waits in line. */
export class LanePool {
  readonly #open: () => Promise<ShellChannel>
  readonly #most: number
  readonly #all = new Set<Lane>()
  readonly #idle: Lane[] = []
  readonly #waiting = new Set<() => void>()
  #lent = 0

  constructor(open: () => Promise<ShellChannel>, most: number) {
    this.#open = open
    this.#most = most
  }

  /** Rejects with the signal's reason when it aborts while waiting in line, and when no shell can be opened. */
  async take(signal: AbortSignal): Promise<Lane> {
    if (this.#lent < this.#most) this.#lent += 1
    else await this.#turn(signal)
    try {
      return this.#usable() ?? (await this.#add())
    } catch (error) {
      this.#free()
      throw error
    }
  }

  giveBack(lane: Lane): void {
    this.#idle.push(lane)
    this.#free()
  }

  close(): void {
    for (const lane of this.#all) lane.close()
  }

  #usable(): Lane | undefined {
    for (let lane = this.#idle.pop(); lane !== undefined; lane = this.#idle.pop())
      if (lane.usable) return lane
    return undefined
  }

  async #add(): Promise<Lane> {
    const lane = new Lane(await this.#open())
    this.#all.add(lane)
    void lane.gone.then(() => this.#all.delete(lane))
    return lane
  }

  /** The slot is handed to the first waiter and stays lent. */
  #free(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#lent -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (): void => {
      this.#waiting.delete(resolve)
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#waiting.add(resolve)
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }
}
