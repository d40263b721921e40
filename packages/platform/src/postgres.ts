import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { errorText } from './error-text.ts'
import { backOff, pause } from './retry.ts'

const BACKOFF = { firstMs: 100, mostMs: 2_000 }
const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 10_000
/** How long the notification of the self-test may take. */
const ECHO_MS = 2_000
/** How often what notifications would report is read where they do not arrive. */
const POLL_MS = 250

export interface ListenOptions {
  readonly url: string
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string
  /** Handlers of payloads, by channel. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>
  /** Keep trying if the first attempt fails. Otherwise `listen` rejects. */
  readonly mayStartLate?: boolean
  /**
   * Called when notifications may have been missed: when it listens after a failure, and several times a second while
   * notifications do not arrive, because a pooler is between.
   */
  onBack?(): void
  readonly log?: ((message: string, facts: Readonly<Record<string, unknown>>) => void) | undefined
}

interface Session {
  readonly client: pg.Client
  /** Resolves with the reason when the connection has ended. */
  readonly ended: Promise<string>
  /** The channel of the self-test, and its notification. */
  readonly echo: { readonly channel: string; readonly heard: Promise<unknown> }
}

const clientOf = ({ url, applicationName }: ListenOptions): pg.Client =>
  new pg.Client({
    connectionString: url,
    application_name: applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })

const openSession = (options: ListenOptions): Session => {
  const { channels } = options
  const client = clientOf(options)
  const echo = {
    channel: `scanfarm_echo_${randomUUID().replaceAll('-', '')}`,
    ...Promise.withResolvers<void>(),
  }
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  client.on('end', () => resolve('the connection ended'))
  client.on('error', (error) => resolve(error.message))
  // Before LISTEN: the first notification may arrive in the same packet as its response.
  client.on('notification', ({ channel, payload }) => {
    if (channel === echo.channel) echo.resolve()
    else channels[channel]?.(payload ?? '')
  })
  return { client, ended, echo: { channel: echo.channel, heard: echo.promise } }
}

/** Resolves with whether notifications arrive: a pooler in transaction mode accepts LISTEN, and delivers none. */
const startListening = async ({ client, ended, echo }: Session, options: ListenOptions): Promise<boolean> => {
  const failed = ended.then((reason) => {
    throw new Error(reason)
  })
  // pg does not settle `connect` if `end` is called meanwhile.
  await Promise.race([client.connect(), failed])
  for (const channel of [...Object.keys(options.channels), echo.channel])
    await client.query(`listen ${pg.escapeIdentifier(channel)}`)
  await notifyFrom(
    clientOf({ ...options, applicationName: `${options.applicationName ?? 'scanfarm'} self-test` }),
    echo.channel,
  )
  const late = new AbortController()
  const heard = await Promise.race([
    echo.heard.then(() => true),
    pause(ECHO_MS, late.signal).then(() => false),
  ])
  late.abort()
  // The connection behind a pooler goes on to listen for whichever client uses it next.
  await client.query(heard ? `unlisten ${echo.channel}` : 'unlisten *')
  return heard
}

/** From another connection: behind a pooler, this one may be lent the server connection that listens. */
const notifyFrom = async (client: pg.Client, channel: string): Promise<void> => {
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select pg_notify($1, $2)', [channel, ''])
  } finally {
    await client.end().catch(() => undefined)
  }
}

const DEAF =
  'notifications of Postgres do not arrive, as behind a pooler in transaction mode: the database is asked several times a second instead. Set database.direct_url (DATABASE_DIRECT_URL) to an address without the pooler'

/**
 * Listens on a separate connection, and reconnects after a loss. Where notifications do not arrive it warns once and calls
 * `onBack` instead. Resolves after the first attempt.
 */
export async function listen(options: ListenOptions): Promise<AsyncDisposable> {
  const { mayStartLate = false, onBack, log } = options
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
        const hears = await startListening(session, options)
        firstAttempt.resolve()
        if (!hears) {
          report(DEAF, 'no notification of the self-test arrived')
          await session.client.end().catch(() => undefined)
          return await poll()
        }
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
  const poll = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await pause(POLL_MS, closing.signal)
      if (!closing.signal.aborted) onBack?.()
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
