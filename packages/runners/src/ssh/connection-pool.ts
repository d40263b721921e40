import { once } from 'node:events'
import { RunnerUnavailableError, formatSshAddress } from '@scanfarm/contracts'
import { backOff, errorText, retry } from '@scanfarm/platform'
import { connect, HostUnreachableError, type Connection, type ConnectLimits } from './connection.ts'
import type { SshTarget } from './target.ts'

/** OpenSSH allows ten sessions per connection; two remain as a reserve. */
const SESSIONS_PER_CONNECTION = 8
const MOST_CONNECTIONS = 64
/** Longest time that a caller waits for a session of a host whose connections are all in use. */
const MOST_WAIT_MS = 60_000
const SESSION_WAIT = { firstMs: 20, mostMs: 500, jitter: true }
/** A connection without open sessions that refused one is not used for this long. */
const REFUSAL_REST_MS = 50
const FIRST_WAIT_MS = 250

export interface HostLimits extends ConnectLimits {
  /** Attempts to reach the host; the wait between them doubles. */
  readonly attempts: number
  /** An unused connection is closed after this time. */
  readonly idleMs: number
  /** Most connections at once. Default: 64. */
  readonly connections?: number
}

interface Used {
  readonly connection: Connection
  sessions: number
  most: number
  refusedUntil: number
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
  /** How the host answered a request for SFTP that it does not offer. */
  noSftp: string | undefined
  readonly #target: SshTarget
  readonly #limits: HostLimits
  readonly #used = new Set<Used>()
  #connecting: { readonly by: AbortSignal; readonly used: Promise<Used> } | undefined
  #hostKey = ''
  /** Aborted, and replaced, when a session is released or a connection has ended. */
  #changed = new AbortController()

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

  /**
   * Opens something on a connection with a free session. A host frees a session some time after its end, so a refusal is
   * tried again: on another connection, or after a wait. Rejects with a `RunnerUnavailableError`, or the signal's reason.
   */
  async open<T>(what: (connection: Connection) => Promise<T>, signal: AbortSignal): Promise<Session<T>> {
    const until = performance.now() + MOST_WAIT_MS
    let refusal: unknown
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted()
      const used = this.#free() ?? (await this.#added(signal))
      if (used === undefined) {
        if (performance.now() > until) throw this.#busy(refusal)
        await backOff(attempt, SESSION_WAIT, AbortSignal.any([signal, this.#changed.signal]))
        continue
      }
      if (used.sessions >= used.most) continue
      clearTimeout(used.idle)
      used.sessions += 1
      const { connection } = used
      try {
        return { value: await what(connection), connection, release: () => this.#release(used) }
      } catch (error) {
        this.#release(used)
        if (connection.usable && !isRefusal(error)) throw this.#refused(error)
        if (performance.now() > until) throw connection.usable ? this.#busy(error) : error
        refusal = error
        // The host allows no more on this connection; with none open it has not freed the last one yet.
        used.most = Math.max(1, Math.min(used.most, used.sessions))
        if (used.sessions === 0) used.refusedUntil = performance.now() + REFUSAL_REST_MS
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
    const now = performance.now()
    return [...this.#used].find(
      (used) => used.connection.usable && used.sessions < used.most && used.refusedUntil <= now,
    )
  }

  /** Another connection, while the host may have more of them. */
  async #added(signal: AbortSignal): Promise<Used | undefined> {
    return this.#used.size < (this.#limits.connections ?? MOST_CONNECTIONS)
      ? await this.#connected(signal)
      : undefined
  }

  #busy(cause: unknown): RunnerUnavailableError {
    const sessions = [...this.#used].reduce((sum, used) => sum + used.sessions, 0)
    return new RunnerUnavailableError(
      `the ssh host ${formatSshAddress(this.#target.address)} allows no more sessions (${sessions} are open on ${this.#used.size} connections): raise MaxSessions of its sshd, or give it fewer runs at the same time`,
      { cause },
    )
  }

  #refused(cause: unknown): RunnerUnavailableError {
    return new RunnerUnavailableError(
      `the ssh host ${formatSshAddress(this.#target.address)} starts no command (${errorText(cause)}): its sshd must allow its user to execute commands`,
      { cause },
    )
  }

  #noteChange(): void {
    this.#changed.abort()
    this.#changed = new AbortController()
  }

  #release(used: Used): void {
    used.sessions -= 1
    this.#noteChange()
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
      const used: Used = {
        connection: await this.#reach(signal),
        sessions: 0,
        most: SESSIONS_PER_CONNECTION,
        refusedUntil: 0,
      }
      this.#used.add(used)
      this.#hostKey = used.connection.hostKey
      void used.connection.gone.then(() => {
        clearTimeout(used.idle)
        this.#used.delete(used)
        this.#noteChange()
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

/** How the library reports that a host opens no channel. */
const isRefusal = (error: unknown): boolean => errorText(error).includes('Channel open failure')
