import type { RunStore } from '@scanfarm/contracts'
import { openServices, type Config, type Logger } from '@scanfarm/platform'
import { openRunQueue, type RunQueue } from '@scanfarm/queue'
import { openRunStore } from '@scanfarm/store'
import { meetFarm, meetQueue } from './meet-farm.ts'

/** What a worker shares with all others. */
export interface Farm {
  readonly farmId: string
  readonly store: RunStore
  readonly queue: RunQueue
}

/** Resolves when database and queue are there and fit; closes with `scope`. */
export async function openFarm(
  config: Config,
  log: Logger,
  stopping: AbortSignal,
  scope: AsyncDisposableStack,
): Promise<Farm> {
  const services = scope.use(await openServices({ config, need: { queue: true }, log }))
  if (services.queue === null) throw new Error('a worker needs a queue, and none is configured')
  for (const line of services.describe) log.info(line)
  const store = scope.use(
    await openRunStore({
      url: services.databaseUrl,
      poolSize: config.database.poolWorker,
      statementTimeoutMs: config.database.statementMs,
      applicationName: `scanfarm worker ${config.worker.name}`,
      log: (message, facts) => log.warn(message, facts),
    }),
  )
  const farmId = await meetFarm(store, log, stopping)
  const queue = scope.use(await openRunQueue(services.queue, { farmId, role: 'worker', log }))
  await meetQueue(queue, log, stopping)
  return { farmId, store, queue }
}
