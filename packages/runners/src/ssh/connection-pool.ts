import { once } from 'node:events'
import { retry } from '@scanfarm/platform'
import { connect, HostUnreachableError, type Connection, type ConnectLimits } from './connection.ts'
import type { SshTarget } from './target.ts'

/** OpenSSH allows ten sessions per connection; two remain as a reserve. */
const SESSIONS_PER_CONNECTION = 8
const MOST_CONNECTIONS = 16
const FIRST_WAIT_MS = 250

export interface HostLimits extends ConnectLimits {
  /** Attempts to reach the host; the wait between them doubles. */
  readonly attempts: number
  /** An unused connection is closed after this time. */
  readonly idleMs: number
}

interface Used {
  readonly connection: Connection
  sessions: number
  most: number
  idle?: NodeJS.Timeout
}

/** Something open on a connection, like a shell. */
export interface Session<T> {
  readonly value: T
  readonly connection: Connection
  release(): void
}

/** The connections to one target. Sessions share as few of them as possible. */
export class ConnectionPool {
  readonly #target: SshTarget
  readonly #limits: HostLimits
  readonly #used = new Set<Used>()
  #connecting: { readonly by: AbortSignal; readonly used: Promise<Used> } | undefined
  #hostKey = ''

  constructor(target: SshTarget, limits: HostLimits) {
    this.#target = target
    this.#limits = limits
  }

  /** No connection is open or being opened. */
  get isIdle(): boolean {
    return this.#used.size === 0 && this.#connecting === undefined
  }

  /** Fingerprint of the last key of the host. */
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
        // Refused while other sessions are open: the host allows no more on this connection.
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
   * The first caller connects, and later callers wait for its connection. Undefined if the first caller is cancelled: the
   * next one connects. A caller that is cancelled stops waiting at once.
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

  #reach(signal: AbortSignal): Promise<Connection> {
    return retry(() => connect(this.#target, this.#limits, signal), {
      backoff: { firstMs: FIRST_WAIT_MS, mostMs: Infinity },
      signal,
      shouldRetry: (error, attempt) =>
        error instanceof HostUnreachableError && attempt < this.#limits.attempts,
    })
  }
}
