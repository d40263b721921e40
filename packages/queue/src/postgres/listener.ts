import { backOff } from '@scanfarm/platform'
import pg from 'pg'
import type { QueueLog } from '../run-queue.ts'

const BACKOFF = { firstMs: 100, mostMs: 2_000 }
const KEEP_ALIVE_MS = 10_000

export interface PgListenerOptions {
  readonly url: string
  readonly log: QueueLog
  /** Handlers of payloads, by channel. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>
  /** Called after a reconnect: signals may have been missed. */
  onBack?(): void
}

/** A connection that listens, and reconnects by itself. */
export class PgListener implements AsyncDisposable {
  readonly #options: PgListenerOptions
  readonly #stop = new AbortController()
  #client: pg.Client | undefined
  #reconnecting: Promise<void> | undefined

  private constructor(options: PgListenerOptions) {
    this.#options = options
  }

  /** Resolves when it listens; rejects if Postgres cannot be reached. */
  static async open(options: PgListenerOptions): Promise<PgListener> {
    const listener = new PgListener(options)
    await listener.#connect()
    return listener
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#reconnecting
    await this.#client?.end()
  }

  async #connect(): Promise<void> {
    const { url, channels } = this.#options
    const client = new pg.Client({
      connectionString: url,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: KEEP_ALIVE_MS,
    })
    client.on('error', () => undefined)
    // Before LISTEN: the first notification may arrive in the same packet as its response.
    client.on('notification', ({ channel, payload }) => channels[channel]?.(payload ?? ''))
    try {
      await client.connect()
      for (const channel of Object.keys(channels))
        await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      await client.end().catch(() => undefined)
      throw error
    }
    client.once('end', () => this.#lost(client))
    this.#client = client
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client || this.#stop.signal.aborted) return
    this.#client = undefined
    this.#options.log.warn('the listening connection to Postgres was lost; reconnecting')
    this.#reconnecting = this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#stop
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      await backOff(attempt, BACKOFF, signal)
      if (signal.aborted) return
      try {
        await this.#connect()
        this.#options.log.info('the listening connection to Postgres is restored')
        this.#options.onBack?.()
        return
      } catch (error) {
        this.#options.log.debug('the listening connection to Postgres could not be opened', { error })
      }
    }
  }
}
