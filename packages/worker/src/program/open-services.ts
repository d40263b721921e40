import { backoffMs, AppError, type RunStore } from '@scanfarm/contracts'
import { openServices } from '@scanfarm/embedded'
import { errorText, retry, type Logger } from '@scanfarm/platform'
import { openRunQueue, QueueSetupError, type RunQueue } from '@scanfarm/queue'
import { openRunStore, SchemaError } from '@scanfarm/store'
import type { WorkerConfig } from '../settings/settings.ts'

/** One for claims and heartbeats, one for records. */
const CONNECTIONS = 2

/** What a worker shares with all others. */
export interface WorkerServices {
  readonly farmId: string
  readonly store: RunStore
  readonly queue: RunQueue
}

/** Resolves when database and queue are ready; closes with `scope`. */
export async function openWorkerServices(
  config: WorkerConfig,
  log: Logger,
  stopping: AbortSignal,
  scope: AsyncDisposableStack,
): Promise<WorkerServices> {
  const services = scope.use(await openServices({ config, need: { queue: true, farm: true }, log }))
  if (services.queue === null) throw new Error('a worker needs a queue, and none is configured')
  for (const line of services.describe) log.info(line)
  const store = scope.use(
    await openRunStore({
      url: services.databaseUrl,
      poolSize: CONNECTIONS,
      applicationName: `scanfarm worker ${config.worker.name}`,
      log: (message, facts) => log.warn(message, facts),
    }),
  )
  const wait = { log, stopping }
  const farmId = await waitUntilReady('the database', () => store.farmId(), isDatabaseStarting, wait)
  const queue = scope.use(await openRunQueue(services.queue, { farmId, role: 'worker', log }))
  await waitUntilReady(
    'the queue',
    () => queue.check(),
    (error) => !(error instanceof QueueSetupError),
    wait,
  )
  return { farmId, store, queue }
}

/** Away, or without a schema yet. A schema of another version needs an update of this program or of the database. */
const isDatabaseStarting = (error: unknown): boolean =>
  (error instanceof AppError && error.code === 'unavailable') ||
  (error instanceof SchemaError && error.found === undefined)

const BACKOFF = { firstMs: 200, mostMs: 5_000 }

/** Waits without a limit; rejects with an error that is not temporary, or when the program stops. */
const waitUntilReady = <T>(
  what: string,
  check: () => Promise<T>,
  isTemporary: (error: unknown) => boolean,
  { log, stopping }: { readonly log: Logger; readonly stopping: AbortSignal },
): Promise<T> =>
  retry(
    async () => {
      stopping.throwIfAborted()
      return await check()
    },
    {
      backoff: BACKOFF,
      signal: stopping,
      shouldRetry(error, attempt) {
        if (!isTemporary(error)) return false
        log.warn('waiting for a service', {
          what,
          reason: errorText(error),
          retry_ms: backoffMs(attempt, BACKOFF),
        })
        return true
      },
    },
  )
