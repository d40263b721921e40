import { BullRunQueue } from './bull-run-queue.ts'
import type { Link } from './link.ts'
import { PostgresLink } from './postgres/postgres-link.ts'
import { RedisLink } from './redis/redis-link.ts'
import type { QueueBackend, QueueOptions, RunQueue } from './run-queue.ts'

const REDELIVER_MS = 15_000

/**
 * Opens the run queue of a farm. It does not need the backend to be there, nor to be fit: ask `check` before serving.
 */
export const openRunQueue = async (backend: QueueBackend, options: QueueOptions): Promise<RunQueue> => {
  // A message is abandoned when its lock ran out; two checks find it, the first of which only marks it.
  const third = Math.ceil((options.redeliverMs ?? REDELIVER_MS) / 3)
  const { farmId, log } = options
  return new BullRunQueue(await openLink(backend, options), {
    farmId,
    log,
    redelivery: { lockMs: third, checkMs: third },
  })
}

const openLink = async ({ kind, url }: QueueBackend, options: QueueOptions): Promise<Link> =>
  kind === 'redis' ? await RedisLink.open({ url, ...options }) : new PostgresLink({ url, ...options })
