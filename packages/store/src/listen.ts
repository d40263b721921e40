import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { StoreLog } from './connection.ts'

const CHANNEL = 'scanfarm_wake'
const RECONNECT_MS = 1_000
const CONNECT_TIMEOUT_MS = 5_000

export interface ListenOptions {
  readonly url: string
  readonly applicationName: string
  readonly log?: StoreLog | undefined
}

interface Session {
  readonly client: pg.Client
  /** Resolves when the connection is gone, for whatever reason. */
  readonly ended: Promise<void>
}

const openSession = (options: ListenOptions, onWake: () => void): Session => {
  const client = new pg.Client({
    connectionString: options.url,
    application_name: options.applicationName,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  client.on('end', () => resolve())
  client.on('error', (error) => {
    options.log?.('the listening connection broke', { error: error.message })
    resolve()
  })
  client.on('notification', onWake)
  return { client, ended }
}

/** The client settles nothing when it is told to end while it is still connecting. */
const connected = async ({ client, ended }: Session): Promise<void> => {
  const gone = ended.then(() => {
    throw new Error('the listening connection ended before it was made')
  })
  await Promise.race([client.connect(), gone])
}

/**
 * Listens on a connection of its own (a pooler in transaction mode cannot carry LISTEN) and comes back after a loss,
 * with a call for whatever was missed. Resolves as soon as it listens for the first time, or right away when the
 * database is away: notifications are hints.
 */
export async function listen(options: ListenOptions, onWake: () => void): Promise<AsyncDisposable> {
  const closing = new AbortController()
  const firstTry = Promise.withResolvers<void>()
  let session: Session | undefined

  const stayConnected = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      session = openSession(options, onWake)
      try {
        await connected(session)
        await session.client.query(`listen ${CHANNEL}`)
        firstTry.resolve()
        onWake()
        await session.ended
      } catch (error) {
        options.log?.('cannot listen for wake-ups', { error: String(error) })
      }
      firstTry.resolve()
      await session.client.end().catch(() => undefined)
      await delay(RECONNECT_MS, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }
  const staying = stayConnected()
  await firstTry.promise
  return {
    [Symbol.asyncDispose]: async () => {
      closing.abort()
      await session?.client.end().catch(() => undefined)
      await staying
    },
  }
}
