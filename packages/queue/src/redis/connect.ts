import { backoffMs } from '@scanfarm/contracts'

import { Redis } from 'ioredis'
import type { QueueLog } from '../run-queue.ts'
import type { RedisAddress } from './address.ts'

/** Timeout of a command: a Redis that hangs counts as unreachable. */
export const COMMAND_TIMEOUT_MS = 5_000
const RECONNECT = { firstMs: 50, mostMs: 1_000 }

/**
 * A connection that fails fast and reconnects without limit. A command is rejected while there is no connection, and is
 * not sent again after a connection was lost: its caller may have given up.
 *
 * `blocking`: for blocking commands, which have no timeout.
 */
export const connect = (server: RedisAddress, log: QueueLog, options: { blocking: boolean }): Redis => {
  const client = new Redis({
    ...server.options,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: null,
    commandTimeout: options.blocking ? undefined : COMMAND_TIMEOUT_MS,
    connectTimeout: COMMAND_TIMEOUT_MS,
    keepAlive: COMMAND_TIMEOUT_MS,
    retryStrategy: (times) => backoffMs(times, RECONNECT),
    sentinelRetryStrategy: (times) => backoffMs(times, RECONNECT),
    // After a failover the old primary rejects writes: reconnect, which resolves the address again.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  })
  return logged(client, server.place, log)
}

/** Logs one line when the connection is lost and one when it is restored. */
const logged = (client: Redis, place: string, log: QueueLog): Redis => {
  let isLost = false
  client.on('error', (error: Error) => {
    if (!isLost) log.warn('Redis cannot be reached; reconnecting', { redis: place, error })
    isLost = true
  })
  client.on('ready', () => {
    if (isLost) log.info('Redis is reachable again', { redis: place })
    isLost = false
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
