import type { Redis } from 'ioredis'

/*
 * What BullMQ does with one script for each message, for several messages and without entries in its event stream. The
 * keys and the fields of a message are BullMQ's.
 */

/**
 * Adds messages that do not exist yet, and the class of the queue to those in use, whose list may have been flushed.
 *
 * KEYS: prioritized, priority counter, marker, meta, classes, prefix of messages. ARGV: class, most entries of the event
 * stream, time, then for each message: id, data, priority.
 */
const ADD = `
redis.call('SADD', KEYS[5], ARGV[1])
redis.call('HSET', KEYS[4], 'opts.maxLenEvents', ARGV[2])
local scores, added = {}, 0
local counter = redis.call('INCRBY', KEYS[2], (#ARGV - 3) / 3) - (#ARGV - 3) / 3
for i = 4, #ARGV, 3 do
  local id, data, priority = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if redis.call('HSETNX', KEYS[6] .. id, 'data', data) == 1 then
    redis.call('HSET', KEYS[6] .. id, 'name', 'run', 'opts', '{}', 'timestamp', ARGV[3], 'delay', 0, 'priority', priority)
    counter, added = counter + 1, added + 1
    scores[2 * added - 1] = priority * 0x100000000 + counter % 0x100000000
    scores[2 * added] = id
  end
end
if added > 0 then
  redis.call('ZADD', KEYS[1], unpack(scores))
  redis.call('ZADD', KEYS[3], 0, '0')
end`

/**
 * Makes the most urgent messages active and locks them.
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
  scanfarmAdd(...values: readonly (string | number)[]): Promise<unknown>
  scanfarmTake(...values: readonly (string | number)[]): Promise<string[]>
  scanfarmSettle(...values: readonly (string | number)[]): Promise<unknown>
}

const KEYS = 6

export type ScriptedRedis = Redis & Scripts

/** Adds the scripts to a connection. */
export const withScripts = (client: Redis): ScriptedRedis => {
  client.defineCommand('scanfarmAdd', { numberOfKeys: KEYS, lua: ADD })
  client.defineCommand('scanfarmTake', { numberOfKeys: KEYS, lua: TAKE })
  client.defineCommand('scanfarmSettle', { numberOfKeys: KEYS, lua: SETTLE })
  return client as ScriptedRedis
}
