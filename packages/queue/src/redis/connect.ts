import { Redis } from 'ioredis'
import type { QueueLog } from '../run-queue.ts'

/** Longest wait for an answer; a Redis that hangs is as good as one that is away. */
export const COMMAND_TIMEOUT_MS = 5_000
const RECONNECT = { firstMs: 50, mostMs: 1_000 }

/** Host and port of a Redis URL, for messages: the rest of it may be secret. */
export const place = (url: string): string => {
  try {
    return new URL(url).host
  } catch {
    return 'the configured address'
  }
}

/**
 * A connection that fails fast: a command is refused while there is no connection, and is not sent again after one was
 * lost, so that nothing happens later that its caller has given up. It reconnects for ever.
 *
 * `blocking`: for one that waits inside Redis, so that no answer for a while is no sign of trouble.
 */
export const connect = (url: string, log: QueueLog, options: { blocking: boolean }): Redis => {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    // Calls of one turn of the event loop go out, and come back, in one write: filling slots is a call for each.
    enableAutoPipelining: !options.blocking,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: null,
    commandTimeout: options.blocking ? undefined : COMMAND_TIMEOUT_MS,
    connectTimeout: COMMAND_TIMEOUT_MS,
    keepAlive: COMMAND_TIMEOUT_MS,
    retryStrategy: (times) => Math.min(RECONNECT.firstMs * 2 ** (times - 1), RECONNECT.mostMs),
    // After a failover the old master refuses writes: look up the address again.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  })
  return logged(client, url, log)
}

/** One line when it goes and one when it comes back, however often it is tried in between. */
const logged = (client: Redis, url: string, log: QueueLog): Redis => {
  let away = false
  client.on('error', (error: Error) => {
    if (!away) log.warn('Redis cannot be reached, trying on', { redis: place(url), error })
    away = true
  })
  client.on('ready', () => {
    if (away) log.info('Redis is back', { redis: place(url) })
    away = false
  })
  return client
}

/** Resolves when the first attempt to connect has succeeded or failed. */
export const firstAttempt = async (client: Redis): Promise<void> => {
  if (client.status === 'ready') return
  const { promise, resolve } = Promise.withResolvers<void>()
  client.once('ready', resolve)
  client.once('error', () => resolve())
  await promise
}
