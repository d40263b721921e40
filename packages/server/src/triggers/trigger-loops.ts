import type { LoopSpec } from '@scanfarm/platform'
import type { ServerContext } from '../context.ts'
import { sendOptions, WebhookSender } from '../webhooks/webhook-sender.ts'
import { FileWatcher } from './file-watcher.ts'

/** Topics that no master has requested for this long are no longer wanted. */
const KEEP_TOPICS_MS = 600_000
/** How long trigger executions are kept if events are kept forever. */
const KEEP_DAYS = 365
/** Maximum batches of old events deleted in one turn. */
const MOST_BATCHES = 200

/**
 * The loops that turn events, times and files into runs, and that send messages. Any number of servers may run them.
 * Events from the API are processed immediately; the intervals cover all others.
 */
export const triggerLoops = (context: ServerContext): readonly LoopSpec[] => {
  const { receiver, store, log } = context
  const { webhooks, feed } = store
  const watcher = new FileWatcher(receiver, store.triggers, log)
  const sender = new WebhookSender({ webhooks, feed, receiver, options: sendOptions(context), log })
  const always: readonly LoopSpec[] = [
    {
      name: 'start queued trigger executions',
      intervalMs: 1_000,
      turn: () => receiver.startWaitingOnce(),
    },
    { name: 'prune triggers', intervalMs: 600_000, turn: () => prune(context) },
    {
      name: 'fan events out',
      intervalMs: 1_000,
      isUrgent: true,
      turn: (signal) => sender.fanOutOnce(signal),
    },
    {
      name: 'send messages',
      intervalMs: 1_000,
      isUrgent: true,
      turn: (signal) => sender.deliverOnce(signal),
    },
  ]
  if (!receiver.enabled) return always
  return [
    {
      name: 'receive events',
      intervalMs: 500,
      isUrgent: true,
      turn: (signal) => receiver.receiveOnce(signal),
    },
    {
      name: 'watch files',
      intervalMs: 1_000,
      turn: (signal) => watcher.scanOnce(performance.now(), signal),
    },
    ...always,
  ]
}

const prune = async ({ store, receiver, config }: ServerContext): Promise<void> => {
  // After a long time without a master all topics have expired: renew the wanted ones before deleting the others.
  if (receiver.enabled) await receiver.registry.current()
  const { eventDays } = config.retention
  const days = eventDays || KEEP_DAYS
  await store.triggers.prune({ days, topicsMs: KEEP_TOPICS_MS })
  await store.webhooks.prune(days)
  if (eventDays === 0) return
  await store.events.dropRanges(eventDays)
  for (let batch = 0; batch < MOST_BATCHES; batch += 1)
    if ((await store.events.prune(eventDays)) === 0) return
}
