import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, HostUnreachableError, type Connection, type ConnectLimits } from './connection.ts'
import type { SshTarget } from './target.ts'

/** OpenSSH allows ten sessions a connection; two are left for whatever else comes. */
const SESSIONS_PER_CONNECTION = 8
const MOST_CONNECTIONS = 16
const FIRST_WAIT_MS = 250

export interface HostLimits extends ConnectLimits {
  /** Tries to reach the host before it counts as unreachable; the wait between them doubles. */
  readonly attempts: number
  /** An unused connection is kept for so long. */
  readonly idleMs: number
}

interface Used {
  readonly connection: Connection
  sessions: number
  most: number
  idle?: NodeJS.Timeout
}

/** Something open on a connection, such as a shell. Giving it back frees its place. */
export interface Session<T> {
  readonly value: T
  readonly connection: Connection
  release(): void
}

/** All that goes to one host by one way: its sessions share connections, the fewest that will do. */
export class SshHost {
  readonly #target: SshTarget
  readonly #limits: HostLimits
  readonly #used = new Set<Used>()
  #connecting: { readonly by: AbortSignal; readonly used: Promise<Used> } | undefined
  #hostKey = ''

  constructor(target: SshTarget, limits: HostLimits) {
    this.#target = target
    this.#limits = limits
  }

  /** Nothing of it is open or being opened. */
  get isIdle(): boolean {
    return this.#used.size === 0 && this.#connecting === undefined
  }

  /** Fingerprint of the key that the host showed last. */
  get hostKey(): string {
    return this.#hostKey
  }

  /** Rejects with a `RunnerUnavailableError`, or the signal's reason. */
  async open<T>(what: (connection: Connection) => Promise<T>, signal: AbortSignal): Promise<Session<T>> {
    for (;;) {
      signal.throwIfAborted()
      const used = this.#free() ?? (await this.#connected(signal))
      if (used === undefined || used.sessions >= used.most) continue
      clearTimeout(used.idle)
      used.sessions += 1
      const { connection } = used
      try {
        return { value: await what(connection), connection, release: () => this.#release(used) }
      } catch (error) {
        this.#release(used)
        // Refused while others are open: the host allows no more on this connection.
        if (used.sessions === 0 && connection.usable) throw error
        used.most = Math.min(used.most, used.sessions)
        if (this.#used.size >= MOST_CONNECTIONS) throw error
      }
    }
  }

  async close(): Promise<void> {
    await this.#connecting?.used.catch(() => {})
    for (const used of this.#used) {
      clearTimeout(used.idle)
      used.connection.close()
      await used.connection.gone
    }
  }

  #free(): Used | undefined {
    return [...this.#used].find((used) => used.connection.usable && used.sessions < used.most)
  }

  #release(used: Used): void {
    used.sessions -= 1
    if (used.sessions > 0 || !used.connection.usable) return
    used.idle = setTimeout(() => used.connection.close(), this.#limits.idleMs)
  }

  /**
   * The first caller connects, and the callers that come meanwhile wait for its connection. Undefined when the first one
   * was stopped: the next of the others connects. A caller that is stopped ends its wait.
   */
  async #connected(signal: AbortSignal): Promise<Used | undefined> {
    const { by, used } = (this.#connecting ??= { by: signal, used: this.#connect(signal) })
    const ended = new AbortController()
    const stopped = once(signal, 'abort', { signal: ended.signal })
    try {
      return await Promise.race([used, stopped.then(() => Promise.reject(signal.reason))])
    } catch (error) {
      if (by !== signal && by.aborted) return undefined
      throw error
    } finally {
      ended.abort()
    }
  }

  async #connect(signal: AbortSignal): Promise<Used> {
    try {
      const used: Used = { connection: await this.#reach(signal), sessions: 0, most: SESSIONS_PER_CONNECTION }
      this.#used.add(used)
      this.#hostKey = used.connection.hostKey
      void used.connection.gone.then(() => {
        clearTimeout(used.idle)
        this.#used.delete(used)
      })
      return used
    } finally {
      this.#connecting = undefined
    }
  }

  async #reach(signal: AbortSignal): Promise<Connection> {
    for (let attempt = 1, waitMs = FIRST_WAIT_MS; ; attempt += 1, waitMs *= 2) {
      try {
        return await connect(this.#target, this.#limits, signal)
      } catch (error) {
        if (!(error instanceof HostUnreachableError) || attempt >= this.#limits.attempts) throw error
        await delay(waitMs, undefined, { signal })
      }
    }
  }
}
