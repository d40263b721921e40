import pg from 'pg'
import { errorText } from './error-text.ts'
import { backOff } from './retry.ts'

const BACKOFF = { firstMs: 100, mostMs: 2_000 }
const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 10_000

export interface ListenOptions {
  readonly url: string
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string
  /** Handlers of payloads, by channel. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>
  /** Keep trying if the first attempt fails. Otherwise `listen` rejects. */
  readonly mayStartLate?: boolean
  /** Called when it listens after a failure: notifications may have been missed. */
  onBack?(): void
  readonly log?: ((message: string, facts: Readonly<Record<string, unknown>>) => void) | undefined
}

interface Session {
  readonly client: pg.Client
  /** Resolves with the reason when the connection has ended. */
  readonly ended: Promise<string>
}

const openSession = ({ url, applicationName, channels }: ListenOptions): Session => {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  client.on('end', () => resolve('the connection ended'))
  client.on('error', (error) => resolve(error.message))
  // Before LISTEN: the first notification may arrive in the same packet as its response.
  client.on('notification', ({ channel, payload }) => channels[channel]?.(payload ?? ''))
  return { client, ended }
}

const startListening = async ({ client, ended }: Session, channels: readonly string[]): Promise<void> => {
  const failed = ended.then((reason) => {
    throw new Error(reason)
  })
  // pg does not settle `connect` if `end` is called meanwhile.
  await Promise.race([client.connect(), failed])
  for (const channel of channels) await client.query(`listen ${pg.escapeIdentifier(channel)}`)
}

/**
 * Listens on a separate connection (a pooler in transaction mode does not support LISTEN), and reconnects after a loss.
 * Resolves after the first attempt.
 */
export async function listen(options: ListenOptions): Promise<AsyncDisposable> {
  const { channels, mayStartLate = false, onBack, log } = options
  const closing = new AbortController()
  const firstAttempt = Promise.withResolvers<void>()
  let session: Session | undefined

  let problem = ''
  const report = (message: string, error: string): void => {
    if (!closing.signal.aborted && error !== problem) log?.(message, { error })
    problem = error
  }
  const stayConnected = async (): Promise<void> => {
    for (let failures = 0; !closing.signal.aborted; failures += 1) {
      session = openSession(options)
      try {
        await startListening(session, Object.keys(channels))
        firstAttempt.resolve()
        if (failures > 0) {
          log?.('the listening connection to Postgres is restored', {})
          onBack?.()
        }
        failures = 0
        problem = ''
        report('the listening connection to Postgres was lost; reconnecting', await session.ended)
      } catch (error) {
        if (failures === 0 && !mayStartLate) closing.abort()
        firstAttempt.reject(error)
        report('cannot listen for notifications of Postgres', errorText(error))
      }
      await session.client.end().catch(() => undefined)
      await backOff(failures + 1, BACKOFF, closing.signal)
    }
  }
  const running = stayConnected()
  await firstAttempt.promise.catch(async (error: unknown) => {
    if (mayStartLate) return
    await running
    throw error
  })
  return {
    [Symbol.asyncDispose]: async () => {
      closing.abort()
      await session?.client.end().catch(() => undefined)
      await running
    },
  }
}
