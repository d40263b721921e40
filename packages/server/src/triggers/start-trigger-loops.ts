import { Loop } from '@scanfarm/platform'
import { schedule } from 'node-cron'
import type { ServerContext } from '../context.ts'
import { sendOptions, WebhookSender } from '../webhooks/webhook-sender.ts'
import { FileWatcher } from './file-watcher.ts'
import { Scheduler } from './scheduler.ts'

/** Time between turns in ms. Events from the API are processed immediately; this covers all others. */
const EVERY = {
  receive: 500,
  schedule: 5_000,
  watch: 1_000,
  startWaiting: 1_000,
  fanOut: 1_000,
  deliver: 1_000,
  prune: 600_000,
} as const
/** Topics that no master has requested for this long are no longer wanted. */
const KEEP_TOPICS_MS = 600_000

export interface TriggerLoops extends AsyncDisposable {
  /** There may be new events, or a waiting execution may be able to start. */
  wake(): void
}

/** Starts the loops that turn events, times and files into runs. Any number of servers may run them. */
export const startTriggerLoops = (context: ServerContext): TriggerLoops => {
  const { receiver, streams } = context
  const urgent = receiver.enabled ? [receiving(context)] : []
  const loops = [
    ...urgent,
    ...(receiver.enabled ? [watching(context)] : []),
    startingWaiting(context),
    pruning(context),
  ]
  const webhooks = sending(context)
  urgent.push(...webhooks)
  loops.push(...webhooks)
  const scheduler = context.config.scheduler.enabled ? scheduling(context) : undefined
  if (scheduler !== undefined) loops.push(scheduler)
  const ticks = scheduler && everySecond(() => scheduler.wake())
  for (const loop of loops) loop.start()
  receiver.running = receiver.enabled
  return {
    wake() {
      for (const loop of urgent) loop.wake()
    },
    async [Symbol.asyncDispose]() {
      receiver.running = false
      streams[Symbol.dispose]()
      ticks?.[Symbol.dispose]()
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()))
    },
  }
}

const receiving = ({ receiver, log }: ServerContext): Loop =>
  new Loop({
    name: 'receive events',
    intervalMs: EVERY.receive,
    log,
    turn: (signal) => receiver.receiveOnce(signal),
  })

const scheduling = ({ receiver, store, log }: ServerContext): Loop => {
  const scheduler = new Scheduler(receiver, store.triggers)
  return new Loop({
    name: 'fire schedules',
    intervalMs: EVERY.schedule,
    log,
    turn: (signal) => scheduler.tickOnce(new Date(), signal),
  })
}

const watching = ({ receiver, store, log }: ServerContext): Loop => {
  const watcher = new FileWatcher(receiver, store.triggers, log)
  return new Loop({
    name: 'watch files',
    intervalMs: EVERY.watch,
    log,
    turn: (signal) => watcher.scanOnce(performance.now(), signal),
  })
}

const sending = (context: ServerContext): Loop[] => {
  const { store, receiver, log } = context
  const { webhooks, feed } = store
  const sender = new WebhookSender({ webhooks, feed, receiver, options: sendOptions(context), log })
  return [
    new Loop({
      name: 'fan events out',
      intervalMs: EVERY.fanOut,
      log,
      turn: (signal) => sender.fanOutOnce(signal),
    }),
    new Loop({
      name: 'send messages',
      intervalMs: EVERY.deliver,
      log,
      turn: (signal) => sender.deliverOnce(signal),
    }),
  ]
}

const startingWaiting = ({ receiver, log }: ServerContext): Loop =>
  new Loop({
    name: 'start queued trigger executions',
    intervalMs: EVERY.startWaiting,
    log,
    turn: () => receiver.startWaitingOnce(),
  })

const pruning = ({ store, receiver, config, log }: ServerContext): Loop =>
  new Loop({
    name: 'prune triggers',
    intervalMs: EVERY.prune,
    log,
    turn: async () => {
      // After a long time without a master all topics have expired: renew the wanted ones before deleting the others.
      if (receiver.enabled) await receiver.registry.current()
      const days = config.retention.eventDays || KEEP_DAYS
      await store.triggers.prune({ days, topicsMs: KEEP_TOPICS_MS })
      await store.webhooks.prune(days)
      await pruneEvents(store, config.retention.eventDays)
    },
  })

/** Maximum batches of old events deleted in one turn. */
const MOST_BATCHES = 200

const pruneEvents = async (store: ServerContext['store'], days: number): Promise<void> => {
  if (days === 0) return
  await store.events.dropRanges(days)
  for (let batch = 0; batch < MOST_BATCHES; batch += 1) if ((await store.events.prune(days)) === 0) return
}

/** How long trigger executions are kept if events are kept forever. */
const KEEP_DAYS = 365

const SILENT = { info() {}, warn() {}, error() {}, debug() {} }

/** Calls `tick` at every full second of the clock until disposed. */
export const everySecond = (tick: () => void): Disposable => {
  const task = schedule('* * * * * *', tick, { logger: SILENT, suppressMissedWarning: true })
  return { [Symbol.dispose]: () => void task.destroy() }
}
