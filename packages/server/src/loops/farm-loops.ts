import type { LoopSpec } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'
import type { LoopContext, RecoveryParts } from './loop-context.ts'
import { LostMessages } from './lost-messages.ts'
import { createLoopMetrics } from './metrics.ts'
import { pruneOnce, UnusedRowRemover } from './prune.ts'
import { finishCancels, finishPriorities, forceCancels, reapOnce, repairSlots } from './recovery.ts'

/** Outages of the queue end suddenly, and all runs wait for it. */
const QUEUE_BACKOFF = { firstMs: 100, mostMs: 5_000 }
const REAP_MS = 1_000
/** Runs judged in one turn, and runs of a scope whose sightings are kept. */
const SCANS = { limit: 100, history: 50 } as const
/** Acceptances that end in one turn. */
const EXPIRED = 500
/** Jobs looked at in one turn. */
const JOBS = 500

/**
 * The loops that keep runs, findings and figures of the farm up to date. Any number of servers may run them; Postgres
 * decides which one acts. All that notifications trigger is polled too, because they can be lost.
 */
export const farmLoops = (context: LoopContext): readonly LoopSpec[] => {
  const { store, dispatcher, log } = context
  const parts = { ...context, metrics: createLoopMetrics(context.metrics) }
  const lost = lostMessages(parts)
  const unused = new UnusedRowRemover({ store, log })
  return [
    { name: 'expand', intervalMs: 1_000, isUrgent: true, turn: expanding(context) },
    ...(dispatcher === undefined
      ? []
      : [
          {
            name: 'dispatch',
            intervalMs: 250,
            isUrgent: true,
            backoff: QUEUE_BACKOFF,
            turn: () => dispatcher.dispatchOnce(),
          },
        ]),
    ...(lost === undefined
      ? []
      : [
          {
            name: 'find lost messages',
            intervalMs: 1_000,
            backoff: QUEUE_BACKOFF,
            turn: (signal: AbortSignal) => lost.findOnce(signal),
          },
        ]),
    {
      name: 'reap',
      intervalMs: REAP_MS,
      // With a pause of a whole lease between its turns the reaper would consider itself absent.
      backoff: { firstMs: REAP_MS, mostMs: REAP_MS },
      turn: () => reapOnce(parts),
    },
    { name: 'force cancels', intervalMs: 1_000, turn: () => forceCancels(parts) },
    { name: 'finish cancels', intervalMs: 1_000, turn: () => finishCancels(parts) },
    { name: 'finish priorities', intervalMs: 1_000, turn: () => finishPriorities(parts) },
    { name: 'settle jobs', intervalMs: 2_000, turn: settling(store) },
    { name: 'repair slots', intervalMs: 60_000, turn: () => repairSlots(parts) },
    // What frees a share offers it; this is for shares that were kept for runs which did not start.
    { name: 'wake limited', intervalMs: 5_000, turn: async () => void (await store.limits.wake()) },
    { name: 'judge scans', intervalMs: 2_000, turn: async () => void (await store.scans.judge(SCANS)) },
    // Opens findings whose acceptance is over.
    {
      name: 'expire acceptances',
      intervalMs: 1_000,
      turn: async () => (await store.triage.expire(EXPIRED)) === EXPIRED,
    },
    // Writes the events about an hour, and about a day.
    { name: 'log digests', intervalMs: 60_000, turn: () => store.nights.logDigests() },
    // Keeps the counts of waiting runs and those by minute up to date.
    {
      name: 'count events',
      intervalMs: 2_000,
      turn: async () => {
        await store.figures.keepWaiting()
        await store.figures.sample()
        return await store.figures.count()
      },
    },
    {
      name: 'prune',
      intervalMs: 600_000,
      turn: async () => {
        await pruneOnce({ store, log })
        await unused.removeOnce()
      },
    },
  ]
}

const expanding = ({ store, dispatcher }: LoopContext) => {
  let sending: Promise<void> | undefined
  return async (): Promise<boolean> => {
    const sent = await store.jobs.expandOnce(dispatcher?.capacities)
    // One chunk is being sent while the next one is expanded.
    await sending
    sending = sent && dispatcher?.send(sent)
    return sent !== undefined
  }
}

/** Counts the runs of jobs that have ended, so that lists of jobs need not. */
const settling = (store: Store) => {
  let after = 0
  return async (): Promise<boolean> => {
    const { counted, last } = await store.jobs.settle(after, JOBS)
    after = last ?? 0
    return counted === JOBS
  }
}

const lostMessages = ({ store, queue, log, metrics }: RecoveryParts) =>
  queue &&
  new LostMessages({
    recovery: store.recovery,
    queue,
    onFound: (count, reason) => {
      log.warn('lost queue messages were found; their runs are enqueued again', { runs: count, reason })
      metrics.repairs.inc({ repair: 'message_lost' }, count)
    },
  })
