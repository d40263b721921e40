import { BullRunQueue } from './bull-run-queue.ts'
import type { Backend } from './backend.ts'
import { PostgresBackend } from './postgres/postgres-backend.ts'
import { RedisBackend } from './redis/redis-backend.ts'
import type { QueueBackend, QueueOptions, RunQueue } from './run-queue.ts'

const REDELIVER_MS = 15_000

/**
 * Opens the run queue of a farm, even if the backend is unreachable or unsuitable: call `check` before serving.
 */
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

const openBackend = async ({ kind, url }: QueueBackend, options: QueueOptions): Promise<Backend> =>
  kind === 'redis' ? await RedisBackend.open({ url, ...options }) : new PostgresBackend({ url, ...options })
