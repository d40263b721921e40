import type { Redis } from 'ioredis'

/*
 * What BullMQ does with one script for each message, for several messages and without entries in its event stream. The
 * keys and the fields of a message are BullMQ's.
 */

/** A job does not wait any more. */
const FORGET_JOB = `
local function forget(jobs, job)
  local owners, owner = jobs .. ':owners', string.match(job, ':(.*)')
  if redis.call('ZREM', jobs, job) == 1 and redis.call('HINCRBY', owners, owner, -1) < 1 then
    redis.call('HDEL', owners, owner)
  end
end`

/** KEYS: `fair:RANK`. ARGV: number and owner of the job. */
const FORGET = `${FORGET_JOB}
forget(KEYS[1], ARGV[1] .. ':' .. ARGV[2])`

/**
 * Adds messages that do not exist yet, and the class of the queue to those in use, whose list may have been flushed.
 *
 * Each gets a place in the order of its priority. The places of a job begin after the message that is taken next, so a
 * new job does not wait for what older ones have queued, and lie further apart the more jobs of its owner are queued and
 * the lower its weight is. The first messages of a new job come at once if nothing else of its owner waits, or nothing of
 * other owners, as long as the owner has had at most HEAD in advance of its share. `fair:RANK` has the last place of each
 * job whose messages wait, `fair:RANK:owners` the number of these jobs by owner, and `fair:RANK:ahead` the place up to which
 * an owner has had its share.
 *
 * KEYS: prioritized, places that were taken last, marker, meta, classes, prefix of messages. ARGV: class, most entries of
 * the event stream, time, number of jobs; for each job: priority, id, owner, weight; then for each message: id, data, the
 * number of its job.
 */
const ADD = `${FORGET_JOB}
local UNIT, HEAD, DENSE = 0x100000000, 32, 1 / 64
redis.call('SADD', KEYS[5], ARGV[1])
redis.call('HSET', KEYS[4], 'opts.maxLenEvents', ARGV[2])
local passed, isEmpty = {}, {}
local function start(rank, jobs, owners)
  local base = rank * UNIT
  local first = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. base, '(' .. base + UNIT, 'WITHSCORES', 'LIMIT', 0, 1)
  if #first == 0 then
    redis.call('DEL', jobs, owners, jobs .. ':ahead')
    isEmpty[rank] = true
    return (tonumber(redis.call('HGET', KEYS[2], rank)) or 0) % 0x80000000
  end
  local now = tonumber(first[2]) - base
  for _, job in ipairs(redis.call('ZRANGEBYSCORE', jobs, '-inf', string.format('(%.17g', now))) do
    forget(jobs, job)
  end
  return now
end
local jobs, at = {}, 5
for n = 1, tonumber(ARGV[4]) do
  local rank, owner = tonumber(ARGV[at]), ARGV[at + 2]
  local key = KEYS[6] .. 'fair:' .. rank
  local owners, member = key .. ':owners', ARGV[at + 1] .. ':' .. owner
  passed[rank] = passed[rank] or start(rank, key, owners)
  local last = redis.call('ZSCORE', key, member)
  local count = last and redis.call('HGET', owners, owner) or redis.call('HINCRBY', owners, owner, 1)
  local isAlone, weight = redis.call('HLEN', owners) == 1, tonumber(ARGV[at + 3])
  jobs[n] = {rank = rank, key = key, member = member, owner = owner, weight = weight, isAlone = isAlone,
    isFirst = not last and not isEmpty[rank] and (isAlone or tonumber(count) == 1),
    place = math.max(passed[rank], tonumber(last) or 0), step = tonumber(count) / weight}
  at = at + 4
end
local function isNext(job)
  if not job.isFirst then return false end
  local now, key = passed[job.rank], job.key .. ':ahead'
  local ahead = math.max(now, tonumber(redis.call('HGET', key, job.owner) or now))
  job.isFirst = ahead + 1 / job.weight <= now + HEAD / job.weight
  if job.isFirst then
    redis.call('HSET', key, job.owner, ahead + 1 / job.weight)
  elseif not job.isAlone then
    job.place = math.max(job.place, ahead)
  end
  return job.isFirst
end
local scores, added = {}, 0
for i = at, #ARGV, 3 do
  local id, data, job = ARGV[i], ARGV[i + 1], jobs[tonumber(ARGV[i + 2])]
  if redis.call('HSETNX', KEYS[6] .. id, 'data', data) == 1 then
    redis.call('HSET', KEYS[6] .. id, 'name', 'run', 'opts', '{}', 'timestamp', ARGV[3], 'delay', 0, 'priority', job.rank)
    job.place = math.min(job.place + (isNext(job) and DENSE or job.step), UNIT - 1)
    added = added + 1
    scores[2 * added - 1] = job.rank * UNIT + job.place
    scores[2 * added] = id
  end
end
for _, job in ipairs(jobs) do
  redis.call('ZADD', job.key, job.place, job.member)
end
if added > 0 then
  redis.call('ZADD', KEYS[1], unpack(scores))
  redis.call('ZADD', KEYS[3], 0, '0')
end`

/**
 * Makes the most urgent messages active and locks them.
 *
 * KEYS: wait, prioritized, active, meta, marker, places that were taken last, prefix of messages. ARGV: most messages, token,
 * ms of a lock.
 */
const TAKE = `
if redis.call('HEXISTS', KEYS[4], 'paused') == 1 then return {} end
local most = tonumber(ARGV[1])
local ids = redis.call('RPOP', KEYS[1], most) or {}
if #ids < most then
  local popped = redis.call('ZPOPMIN', KEYS[2], most - #ids)
  for i = 1, #popped, 2 do ids[#ids + 1] = popped[i] end
  local score = tonumber(popped[#popped]) or 0
  local rank = math.floor(score / 0x100000000)
  local place = score - rank * 0x100000000
  if place > 0 then redis.call('HSET', KEYS[6], rank, place) end
end
if #ids == 0 then return {} end
local taken = {}
for i, id in ipairs(ids) do
  redis.call('SET', KEYS[7] .. id .. ':lock', ARGV[2], 'PX', ARGV[3])
  taken[2 * i - 1] = id
  taken[2 * i] = redis.call('HGET', KEYS[7] .. id, 'data') or ''
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
  scanfarmForget(...values: readonly (string | number)[]): Promise<unknown>
  scanfarmAdd(...values: readonly (string | number)[]): Promise<unknown>
  scanfarmTake(...values: readonly (string | number)[]): Promise<string[]>
  scanfarmSettle(...values: readonly (string | number)[]): Promise<unknown>
}

export type ScriptedRedis = Redis & Scripts

/** Adds the scripts to a connection. */
export const withScripts = (client: Redis): ScriptedRedis => {
  client.defineCommand('scanfarmAdd', { numberOfKeys: 6, lua: ADD })
  client.defineCommand('scanfarmForget', { numberOfKeys: 1, lua: FORGET })
  client.defineCommand('scanfarmTake', { numberOfKeys: 7, lua: TAKE })
  client.defineCommand('scanfarmSettle', { numberOfKeys: 6, lua: SETTLE })
  return client as ScriptedRedis
}
