import pg from 'pg'
import type { QueueLog } from '../run-queue.ts'
import { pause } from '../wait.ts'

const BACKOFF = { firstMs: 100, mostMs: 2_000 }
const KEEP_ALIVE_MS = 10_000

export interface PgListenerOptions {
  readonly url: string
  readonly log: QueueLog
  /** Channel → what to do with a payload. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>
  /** The connection stands again: signals may have been missed. */
  onBack?(): void
}

/** One connection that listens; it comes back by itself. */
export class PgListener implements AsyncDisposable {
  readonly #options: PgListenerOptions
  readonly #stop = new AbortController()
  #client: pg.Client | undefined
  #reconnecting: Promise<void> | undefined

  private constructor(options: PgListenerOptions) {
    this.#options = options
  }

  /** Resolves when it listens; rejects when Postgres cannot be reached. */
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
    // Before it listens: the first signal may come in the same packet as the answer.
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
    this.#options.log.warn('the connection that listens to Postgres was lost, trying on')
    this.#reconnecting = this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#stop
    for (let tries = 0; !signal.aborted; tries += 1) {
      await pause(Math.min(BACKOFF.firstMs * 2 ** tries, BACKOFF.mostMs), signal)
      if (signal.aborted) return
      try {
        await this.#connect()
        this.#options.log.info('the connection that listens to Postgres is back')
        this.#options.onBack?.()
        return
      } catch (error) {
        this.#options.log.debug('Postgres does not let us listen yet', { error })
      }
    }
  }
}
