import { addAbortListener } from 'node:events'
import { ShellSession, type ShellChannel } from './shell-session.ts'

/** A pool of at most `most` shell sessions, opened as needed. Callers wait in order for a free one. */
export class SessionPool {
  readonly #open: () => Promise<ShellChannel>
  readonly #most: number
  readonly #all = new Set<ShellSession>()
  readonly #idle: ShellSession[] = []
  readonly #waiting = new Set<() => void>()
  #acquired = 0

  constructor(open: () => Promise<ShellChannel>, most: number) {
    this.#open = open
    this.#most = most
  }

  /** Rejects with the signal's reason if it aborts while the caller waits, or if no shell can be opened. */
  async acquire(signal: AbortSignal): Promise<ShellSession> {
    if (this.#acquired < this.#most) this.#acquired += 1
    else await this.#waitForSlot(signal)
    try {
      return this.#usable() ?? (await this.#add())
    } catch (error) {
      this.#free()
      throw error
    }
  }

  release(session: ShellSession): void {
    this.#idle.push(session)
    this.#free()
  }

  close(): void {
    for (const session of this.#all) session.close()
  }

  #usable(): ShellSession | undefined {
    for (let session = this.#idle.pop(); session !== undefined; session = this.#idle.pop())
      if (session.usable) return session
    return undefined
  }

  async #add(): Promise<ShellSession> {
    const session = new ShellSession(await this.#open())
    this.#all.add(session)
    void session.gone.then(() => this.#all.delete(session))
    return session
  }

  /** Passes the slot to the first waiter, if any. */
  #free(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#acquired -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }

  async #waitForSlot(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    using _listener = addAbortListener(signal, () => {
      this.#waiting.delete(resolve)
      reject(signal.reason)
    })
    this.#waiting.add(resolve)
    await promise
  }
}
