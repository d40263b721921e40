import { errorText, pause } from '@scanfarm/platform'
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
  /** Resolves when the connection has ended, for any reason. */
  readonly ended: Promise<void>
}

const openSession = (options: ListenOptions, onNotify: () => void): Session => {
  const client = new pg.Client({
    connectionString: options.url,
    application_name: options.applicationName,
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  client.on('end', () => resolve())
  client.on('error', (error) => {
    options.log?.('the listening connection was lost', { error: error.message })
    resolve()
  })
  client.on('notification', onNotify)
  return { client, ended }
}

/** pg does not settle `connect` if `end` is called meanwhile. */
const connected = async ({ client, ended }: Session): Promise<void> => {
  const gone = ended.then(() => {
    throw new Error('the listening connection ended while it was opened')
  })
  await Promise.race([client.connect(), gone])
}

/**
 * Listens on a separate connection (a pooler in transaction mode does not support LISTEN). Reconnects after a loss and
 * then calls `onNotify`, since notifications may have been missed. Resolves after the first attempt, successful or not:
 * notifications are hints.
 */
export async function listen(options: ListenOptions, onNotify: () => void): Promise<AsyncDisposable> {
  const closing = new AbortController()
  const firstTry = Promise.withResolvers<void>()
  let session: Session | undefined

  const stayConnected = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      session = openSession(options, onNotify)
      try {
        await connected(session)
        await session.client.query(`listen ${CHANNEL}`)
        firstTry.resolve()
        onNotify()
        await session.ended
      } catch (error) {
        options.log?.('cannot listen for notifications', { error: errorText(error) })
      }
      firstTry.resolve()
      await session.client.end().catch(() => undefined)
      await pause(RECONNECT_MS, closing.signal)
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
