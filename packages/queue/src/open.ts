import { BullRunQueue } from './bull-run-queue.ts'
import type { Backend } from './backend.ts'
import type { QueueBackend, QueueOptions, RunQueue } from './run-queue.ts'

const REDELIVER_MS = 15_000

/** Opens the run queue of a farm, even an unreachable or unsuitable one: call `check` before serving. */
export const openRunQueue = async (backend: QueueBackend, options: QueueOptions): Promise<RunQueue> => {
  // A message is abandoned once its lock has expired. It takes two checks to return it: the first one only marks it.
  const third = Math.ceil((options.redeliverMs ?? REDELIVER_MS) / 3)
  const { farmId, log } = options
  return new BullRunQueue(await openBackend(backend, options), {
    farmId,
    log,
    redelivery: { lockMs: third, checkMs: third },
  })
}

/** Each backend is loaded by need: programs without a queue start without BullMQ. */
const openBackend = async (backend: QueueBackend, options: QueueOptions): Promise<Backend> => {
  if (backend.kind === 'redis') {
    const { redisAddress } = await import('./redis/address.ts')
    const { RedisBackend } = await import('./redis/redis-backend.ts')
    return await RedisBackend.open({ server: await redisAddress(backend), ...options })
  }
  const { PostgresBackend } = await import('./postgres/postgres-backend.ts')
  return new PostgresBackend({ directUrl: backend.url, ...backend, ...options })
}
