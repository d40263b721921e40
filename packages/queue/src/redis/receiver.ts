import { randomUUID } from 'node:crypto'
import type { QueueKeys, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Received, Receiver } from '../backend.ts'

/**
 * What BullMQ does with one script for each message, for several messages and without entries in its event stream: makes
 * the most urgent messages active and locks them.
 *
 * KEYS: wait, prioritized, active, meta, marker, prefix of messages. ARGV: most messages, token, ms of a lock.
 */
const TAKE = `
if redis.call('HEXISTS', KEYS[4], 'paused') == 1 then return {} end
local most = tonumber(ARGV[1])
local ids = redis.call('RPOP', KEYS[1], most) or {}
if #ids < most then
  local popped = redis.call('ZPOPMIN', KEYS[2], most - #ids)
  for i = 1, #popped, 2 do ids[#ids + 1] = popped[i] end
end
if #ids == 0 then return {} end
local taken = {}
for i, id in ipairs(ids) do
  redis.call('SET', KEYS[6] .. id .. ':lock', ARGV[2], 'PX', ARGV[3])
  taken[2 * i - 1] = id
  taken[2 * i] = redis.call('HGET', KEYS[6] .. id, 'data') or ''
end
redis.call('LPUSH', KEYS[3], unpack(ids))
if redis.call('LLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2]) > 0 then redis.call('ZADD', KEYS[5], 0, '0') end
return taken`

/**
 * Removes messages, or puts them back in front of their priority, unless their lock is gone.
 *
 * KEYS: wait, prioritized, active, stalled, marker, prefix of messages. ARGV: what to do, token, ids.
 */
const SETTLE = `
for i = 3, #ARGV do
  local id, key = ARGV[i], KEYS[6] .. ARGV[i]
  if redis.call('GET', key .. ':lock') == ARGV[2] then
    redis.call('DEL', key .. ':lock')
    redis.call('SREM', KEYS[4], id)
    redis.call('LREM', KEYS[3], 1, id)
    if ARGV[1] == 'remove' then
      redis.call('DEL', key)
    else
      redis.call('ZADD', KEYS[2], (tonumber(redis.call('HGET', key, 'priority')) or 0) * 0x100000000, id)
      redis.call('ZADD', KEYS[5], 0, '0')
    end
  end
end`

interface Scripts {
  scanfarmTake(...values: readonly (string | number)[]): Promise<string[]>
  scanfarmSettle(...values: readonly (string | number)[]): Promise<unknown>
}

const KEYS = 6

/** Adds the scripts to a connection. */
export const withScripts = (client: Redis): Redis & Scripts => {
  client.defineCommand('scanfarmTake', { numberOfKeys: KEYS, lua: TAKE })
  client.defineCommand('scanfarmSettle', { numberOfKeys: KEYS, lua: SETTLE })
  return client as Redis & Scripts
}

export interface RedisReceiverOptions {
  readonly client: Redis & Scripts
  readonly queue: string
  readonly keys: QueueKeys
  readonly lockMs: number
  /** Returns messages whose lock has expired. */
  readonly worker: Pick<Worker, 'close'> & { getBackend(): { moveStalledJobsToWait(): Promise<string[]> } }
}

export class RedisReceiver implements Receiver {
  readonly #options: RedisReceiverOptions
  readonly #token = randomUUID()

  constructor(options: RedisReceiverOptions) {
    this.#options = options
  }

  async take(max: number): Promise<Received[]> {
    const { client, lockMs } = this.#options
    const keys = this.#keys('wait', 'prioritized', 'active', 'meta', 'marker', '')
    const taken = await client.scanfarmTake(...keys, max, this.#token, lockMs)
    return Array.from({ length: taken.length / 2 }, (_, n) => ({
      id: taken[2 * n] ?? '',
      data: taken[2 * n + 1] ?? '',
    }))
  }

  async settle(ids: readonly string[], how: 'remove' | 'return'): Promise<void> {
    const keys = this.#keys('wait', 'prioritized', 'active', 'stalled', 'marker', '')
    await this.#options.client.scanfarmSettle(...keys, how, this.#token, ...ids)
  }

  returnAbandoned(): Promise<string[]> {
    return this.#options.worker.getBackend().moveStalledJobsToWait()
  }

  async close(): Promise<void> {
    await this.#options.worker.close(true)
  }

  #keys(...names: readonly string[]): string[] {
    return names.map((name) => this.#options.keys.toKey(this.#options.queue, name))
  }
}
