import { QueueSetupError } from '../run-queue.ts'
import type { RedisAddress } from './address.ts'

const OLDEST = [6, 2] as const

/** Values of `INFO` by name. */
export const parseInfo = (info: string): ReadonlyMap<string, string> =>
  new Map(
    info.split(/\r?\n/).flatMap((line): [string, string][] => {
      const colon = line.indexOf(':')
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)]] : []
    }),
  )

/** Throws if this Redis could lose messages or lacks commands. Uses `INFO`, since managed services forbid `CONFIG`. */
export const checkFitness = (
  info: ReadonlyMap<string, string>,
  { place: where, hasSentinels }: Pick<RedisAddress, 'place' | 'hasSentinels'>,
): void => {
  if ((info.get('redis_mode') ?? info.get('server_mode')) === 'sentinel')
    throw new QueueSetupError(
      `${where} is a sentinel, not a Redis server: set redis.url (REDIS_URL) to redis+sentinel://${where}/NAME, with the name of its group of servers.`,
    )
  if (info.get('cluster_enabled') === '1')
    throw new QueueSetupError(
      `Redis at ${where} is a node of a cluster, which spreads the keys of a queue over several servers: use a Redis without cluster mode for the queue (managed services: "cluster mode disabled"), or SCANFARM_QUEUE=postgres.`,
    )
  // Sentinels name the new primary soon.
  if (info.get('role') === 'slave' && !hasSentinels)
    throw new QueueSetupError(
      `Redis at ${where} is a replica, which accepts no writes: set redis.url (REDIS_URL) to its primary, ${info.get('master_host')}:${info.get('master_port')}, or to redis+sentinel:// with the sentinels.`,
    )
  const policy = info.get('maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction')
    throw new QueueSetupError(
      `Redis at ${where} has maxmemory-policy ${policy}: when its memory is full it evicts queued messages ` +
        'instead of rejecting new ones. Set "maxmemory-policy noeviction" in redis.conf (at runtime: CONFIG SET ' +
        'maxmemory-policy noeviction; managed Redis: in its parameter group), or use a separate Redis for the queue.',
    )
  const version = info.get('redis_version') ?? ''
  if (older(version))
    throw new QueueSetupError(
      `Redis at ${where} is version ${version}: the queue needs ${OLDEST.join('.')} or newer. Update it.`,
    )
}

const older = (version: string): boolean => {
  const [major, minor] = version.split('.').map(Number)
  if (major === undefined || minor === undefined || Number.isNaN(major)) return false
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
}
