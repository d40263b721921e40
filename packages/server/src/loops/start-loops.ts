import { Loop, type Logger, type Registry } from '@scanfarm/platform'
import type { RunQueue } from '@scanfarm/queue'
import type { Store } from '@scanfarm/store'
import type { Dispatcher } from './dispatcher.ts'
import { LostMessages } from './lost-messages.ts'
import { createLoopMetrics, type LoopMetrics } from './metrics.ts'
import { pruneOnce, UnusedRowRemover } from './prune.ts'
import { finishCancels, finishPriorities, forceCancels, reapOnce, repairSlots } from './recovery.ts'
import type { Config } from '../settings.ts'

/** Time between turns in ms. All that notifications trigger is polled too, because they can be lost. */
const EVERY = {
  dispatch: 250,
  expand: 1_000,
  lostMessages: 1_000,
  reap: 1_000,
  cancels: 1_000,
  slots: 60_000,
  limits: 5_000,
  prune: 600_000,
  judgeScans: 2_000,
  expire: 1_000,
  logDigests: 60_000,
  figures: 2_000,
  settleJobs: 2_000,
} as const
/** Outages of the queue end suddenly, and all runs wait for it. */
const QUEUE_BACKOFF = { firstMs: 100, mostMs: 5_000 }

export interface LoopContext {
  readonly store: Store
  /** Only on a master; other servers have nothing to dispatch. */
  readonly queue: RunQueue | undefined
  readonly dispatcher: Dispatcher | undefined
  readonly log: Logger
  readonly metrics: Registry
  readonly config: {
    readonly worker: Pick<Config['worker'], 'leaseMs'>
    readonly runs: Pick<Config['runs'], 'maxAttempts' | 'cancelGraceMs'>
  }
}

export interface Loops extends AsyncDisposable {
  /** Dispatches and expands without waiting for the interval. */
  wake(): void
}

/** Starts the loops of a server. Any number of servers may run them; Postgres decides which one acts. */
export const startLoops = (context: LoopContext): Loops => {
  const metrics = createLoopMetrics(context.metrics)
  const urgent = [expanding(context), ...dispatching(context)]
  const loops = [...urgent, ...repairing(context, metrics)]
  for (const loop of loops) loop.start()
  return {
    wake() {
      for (const loop of urgent) loop.wake()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()))
    },
  }
}

const expanding = ({ store, dispatcher, log }: LoopContext): Loop => {
  let sending: Promise<void> | undefined
  const turn = async (): Promise<boolean> => {
    const sent = await store.jobs.expandOnce(dispatcher?.capacities)
    // One chunk is being sent while the next one is expanded.
    await sending
    sending = sent && dispatcher?.send(sent)
    return sent !== undefined
  }
  return new Loop({ name: 'expand', intervalMs: EVERY.expand, log, turn })
}

const dispatching = ({ dispatcher, log }: LoopContext): Loop[] => {
  if (!dispatcher) return []
  return [
    new Loop({
      name: 'dispatch',
      intervalMs: EVERY.dispatch,
      backoff: QUEUE_BACKOFF,
      log,
      turn: () => dispatcher.dispatchOnce(),
    }),
  ]
}

const repairing = ({ store, queue, log, config }: LoopContext, metrics: LoopMetrics): Loop[] => {
  const { recovery } = store
  const { maxAttempts, cancelGraceMs } = config.runs
  const { leaseMs } = config.worker
  return [
    ...(queue ? [findingLost(store, queue, log, metrics)] : []),
    new Loop({
      name: 'reap',
      intervalMs: EVERY.reap,
      // With a pause of a whole lease between its turns the reaper would consider itself absent.
      backoff: { firstMs: EVERY.reap, mostMs: EVERY.reap },
      log,
      turn: () => reapOnce({ recovery, maxAttempts, leaseMs, metrics, log }),
    }),
    new Loop({
      name: 'force cancels',
      intervalMs: EVERY.cancels,
      log,
      turn: () => forceCancels({ recovery, cancelGraceMs, metrics, log }),
    }),
    new Loop({
      name: 'finish cancels',
      intervalMs: EVERY.cancels,
      log,
      turn: () => finishCancels({ jobs: store.jobs, metrics, log }),
    }),
    new Loop({
      name: 'finish priorities',
      intervalMs: EVERY.cancels,
      log,
      turn: () => finishPriorities({ jobs: store.jobs, queue, metrics, log }),
    }),
    settling(store, log),
    new Loop({
      name: 'repair slots',
      intervalMs: EVERY.slots,
      log,
      turn: () => repairSlots({ recovery, metrics, log }),
    }),
    // What frees a share offers it; this is for shares that were kept for runs which did not start.
    new Loop({
      name: 'wake limited',
      intervalMs: EVERY.limits,
      log,
      turn: async () => void (await store.limits.wake()),
    }),
    judging(store, log),
    expiring(store, log),
    telling(store, log),
    counting(store, log),
    pruning(store, log),
  ]
}

const pruning = (store: Store, log: Logger): Loop => {
  const unused = new UnusedRowRemover({ store, log })
  const turn = async (): Promise<void> => {
    await pruneOnce({ store, log })
    await unused.removeOnce()
  }
  return new Loop({ name: 'prune', intervalMs: EVERY.prune, log, turn })
}

/** Jobs looked at in one turn. */
const JOBS = 500

/** Counts the runs of jobs that have ended, so that lists of jobs need not. */
const settling = (store: Store, log: Logger): Loop => {
  let after = 0
  const turn = async (): Promise<boolean> => {
    const { counted, last } = await store.jobs.settle(after, JOBS)
    after = last ?? 0
    return counted === JOBS
  }
  return new Loop({ name: 'settle jobs', intervalMs: EVERY.settleJobs, log, turn })
}

/** Runs judged in one turn, and runs of a scope whose sightings are kept. */
const SCANS = { limit: 100, history: 50 } as const

const judging = (store: Store, log: Logger): Loop =>
  new Loop({
    name: 'judge scans',
    intervalMs: EVERY.judgeScans,
    log,
    turn: async () => void (await store.scans.judge(SCANS)),
  })

/** Acceptances that end in one turn. */
const EXPIRED = 500

/** Opens findings whose acceptance is over. */
const expiring = (store: Store, log: Logger): Loop =>
  new Loop({
    name: 'expire acceptances',
    intervalMs: EVERY.expire,
    log,
    turn: async () => (await store.triage.expire(EXPIRED)) === EXPIRED,
  })

/** Writes the events about an hour, and about a day. */
const telling = (store: Store, log: Logger): Loop =>
  new Loop({ name: 'log digests', intervalMs: EVERY.logDigests, log, turn: () => store.nights.logDigests() })

/** Keeps the counts of waiting runs and those by minute up to date. */
const counting = (store: Store, log: Logger): Loop =>
  new Loop({
    name: 'count events',
    intervalMs: EVERY.figures,
    log,
    turn: async () => {
      await store.figures.keepWaiting()
      await store.figures.sample()
      return await store.figures.count()
    },
  })

const findingLost = (store: Store, queue: RunQueue, log: Logger, metrics: LoopMetrics): Loop => {
  const messages = new LostMessages({
    recovery: store.recovery,
    queue,
    onFound: (count, reason) => {
      log.warn('lost queue messages were found; their runs are enqueued again', { runs: count, reason })
      metrics.repairs.inc({ repair: 'message_lost' }, count)
    },
  })
  return new Loop({
    name: 'find lost messages',
    intervalMs: EVERY.lostMessages,
    backoff: QUEUE_BACKOFF,
    log,
    turn: (signal) => messages.findOnce(signal),
  })
}
