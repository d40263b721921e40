import { AppError } from '@scanfarm/contracts'
import type { Logger } from '@scanfarm/platform'
import { QueueSetupError, type RunQueue } from '@scanfarm/queue'
import { SchemaError, type WorkerStore } from '@scanfarm/store'
import { untilReady } from './until-ready.ts'

/**
 * Waits until the database is there and a master has prepared it; resolves to the identity of the farm. Rejects when
 * its schema is not the one of this program: then one of the two has to be updated.
 */
export const meetFarm = (store: WorkerStore, log: Logger, stopping: AbortSignal): Promise<string> =>
  untilReady({
    what: 'the database',
    log,
    stopping,
    attempt: () => store.farmId(),
    isTemporary: (error) =>
      (error instanceof AppError && error.code === 'unavailable') ||
      (error instanceof SchemaError && error.found === undefined),
  })

/** Waits until the queue can be used. Rejects when it never will: its backend is not fit for a queue. */
export const meetQueue = (queue: RunQueue, log: Logger, stopping: AbortSignal): Promise<void> =>
  untilReady({
    what: 'the queue',
    log,
    stopping,
    attempt: () => queue.check(),
    isTemporary: (error) => !(error instanceof QueueSetupError),
  })
