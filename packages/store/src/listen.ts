import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { StoreLog } from './connection.ts'

const CHANNEL = 'scanfarm_wake'
const RECONNECT_MS = 1_000

export interface ListenOptions {
  readonly url: string
  readonly applicationName: string
  readonly log?: StoreLog | undefined
}

/**
 * Listens on a connection of its own (a pooler in transaction mode cannot carry LISTEN) and comes back after a loss,
 * with a call for whatever was missed. Resolves as soon as it listens for the first time, or right away when the
 * database is away: notifications are hints.
 */
export async function listen(options: ListenOptions, onWake: () => void): Promise<AsyncDisposable> {
  const closing = new AbortController()
  let client: pg.Client | undefined

  const connect = async (): Promise<Promise<void>> => {
    const next = new pg.Client({
      connectionString: options.url,
      application_name: options.applicationName,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    next.on('error', (error) => {
      options.log?.('the listening connection broke', { error: error.message })
      next.end().catch(() => undefined)
      resolve()
    })
    next.on('end', () => resolve())
    next.on('notification', onWake)
    client = next
    await next.connect()
    await next.query(`listen ${CHANNEL}`)
    return ended
  }

  const first = Promise.withResolvers<void>()
  const stayConnected = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        const session = { ended: await connect().then((ended) => ({ ended })) }
        first.resolve()
        onWake()
        await session.ended.ended
      } catch (error) {
        options.log?.('cannot listen for wake-ups', { error: String(error) })
      }
      first.resolve()
      await delay(RECONNECT_MS, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }
  const staying = stayConnected()
  await first.promise
  return {
    [Symbol.asyncDispose]: async () => {
      closing.abort()
      await client?.end().catch(() => undefined)
      await staying
    },
  }
}
