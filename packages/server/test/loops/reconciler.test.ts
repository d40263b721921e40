import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { createMetrics, silentLogger } from '@scanfarm/platform'
import { startLoops } from '../../src/loops/index.ts'
import { createLoopMetrics } from '../../src/loops/metrics.ts'
import { KEEP_WORKERS_MS, pruneOnce } from '../../src/loops/pruner/prune-once.ts'
import { forceCancels } from '../../src/loops/reconciler/force-cancels.ts'
import { LostMessages } from '../../src/loops/reconciler/lost-messages.ts'
import { repairSlots } from '../../src/loops/reconciler/repair-slots.ts'
import { Dispatcher } from '../../src/loops/dispatcher/dispatcher.ts'
import { openFarm, until, type TestFarm } from './_farm.ts'

const never = new AbortController().signal
const log = silentLogger

let farm: TestFarm
beforeAll(async () => {
  farm = await openFarm()
})
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
})
afterEach(async () => {
  await farm.reset()
})

const dispatchAll = async (): Promise<void> => {
  const { outbox, workers } = farm.store
  const dispatcher = new Dispatcher({ outbox, workers, queue: farm.queue })
  while (await dispatcher.dispatchOnce());
}

const finder = (found: string[] = []) =>
  new LostMessages({
    recovery: farm.store.recovery,
    queue: farm.queue,
    onFound: (count, reason) => found.push(`${count} ${reason}`),
  })

/** As short as the settings allow, and the same everywhere: a reaper that starts waits for one lease. */
const LEASE_MS = 3_000

const start = () =>
  startLoops({
    store: farm.store,
    queue: farm.queue,
    log,
    metrics: createMetrics(),
    config: {
      worker: { leaseMs: LEASE_MS },
      runs: { maxAttempts: 3, quarantineAfter: 2, cancelGraceMs: 1_000 },
    },
  })

test('finds nothing where nothing is lost', async () => {
  await farm.join()
  await farm.submit(5)
  await dispatchAll()
  await farm.submit(5)
  const found: string[] = []
  await finder(found).findOnce(never)
  expect(found).toEqual([])
})

test('finds every message that a flush took, and none of a run that was claimed', async () => {
  const workerId = await farm.join()
  const { messages } = await farm.submit(2_500)
  await dispatchAll()
  const found: string[] = []
  const lost = finder(found)
  await lost.findOnce(never)
  await using consumer = farm.queue.consumer({ serves: () => true })
  const taken = await consumer.take(100, never)
  await farm.runStore.claim(workerId, taken)
  await Promise.all(taken.map((message) => message.ack()))

  await farm.redis.flush()
  await lost.findOnce(never)
  await dispatchAll()
  const claimed = new Set(taken.map(({ runId }) => runId))
  expect(await farm.queue.has(messages)).toEqual(messages.map(({ runId }) => !claimed.has(runId)))
  expect(found.every((line) => line.endsWith('incarnation'))).toBe(true)
  const before = found.length
  await lost.findOnce(never)
  expect(found).toHaveLength(before)
})

test('finds a single lost message once its run has waited for a minute', async () => {
  await farm.join()
  const { messages } = await farm.submit(3)
  await dispatchAll()
  const found: string[] = []
  const lost = finder(found)
  await lost.findOnce(never)
  await farm.queue.remove(messages.slice(1, 2))
  await farm.sql("update runs set updated_at = now() - interval '61 seconds'")
  await lost.findOnce(never)
  expect(found).toEqual(['1 age'])
  await dispatchAll()
  expect(await farm.queue.has(messages)).toEqual([true, true, true])
})

test('looks again when a pass could not be finished', async () => {
  await farm.join()
  const { messages } = await farm.submit(3)
  await dispatchAll()
  const lost = finder()
  await lost.findOnce(never)
  await farm.redis.kill()
  await expect(lost.findOnce(never)).rejects.toThrow()
  await farm.redis.restart()
  await until(() =>
    lost.findOnce(never).then(
      () => true,
      () => false,
    ),
  )
  await dispatchAll()
  expect(await farm.queue.has(messages)).toEqual([true, true, true])
})

test('brings all messages back by itself within seconds after a flush', async () => {
  await farm.join()
  await using loops = start()
  const { messages } = await farm.submit(1_100)
  loops.wake()
  await until(async () => (await farm.queue.has(messages)).every(Boolean))
  await farm.redis.flush()
  const flushed = performance.now()
  await until(async () => (await farm.queue.has(messages)).every(Boolean))
  // By their age alone they would be looked for after a minute.
  expect(performance.now() - flushed).toBeLessThan(45_000)
})

test('gives the runs of a lost worker to the queue again, with the next epoch', async () => {
  const lost = await farm.join()
  await using loops = start()
  const { messages } = await farm.submit(1)
  loops.wake()
  await using consumer = farm.queue.consumer({ serves: () => true })
  const [first] = await consumer.take(1, never)
  if (!first) throw new Error('nothing was taken')
  expect(await farm.runStore.claim(lost, [first])).toHaveLength(1)
  await first.ack()
  await farm.join()
  await farm.sql(`update workers set lease_until = now() where id = '${lost}'`)
  const [second] = await consumer.take(1, AbortSignal.timeout(60_000))
  expect(second).toMatchObject({ runId: messages[0]?.runId, epoch: first.epoch + 1 })
  await second?.ack()
})

test('forces a cancel that the worker does not answer', async () => {
  const workerId = await farm.join()
  const { messages } = await farm.submit(1)
  const runId = messages[0]?.runId ?? 0
  await dispatchAll()
  await farm.runStore.claim(workerId, messages)
  await farm.store.runs.requestCancel(String(runId))
  const metrics = createLoopMetrics(createMetrics())
  const parts = { recovery: farm.store.recovery, cancelGraceMs: 60_000, metrics, log }
  await forceCancels(parts)
  expect((await farm.store.runs.find(String(runId)))?.status).toBe('running')
  await farm.sql("update runs set cancel_requested_at = now() - interval '65 seconds'")
  await forceCancels(parts)
  expect((await farm.store.runs.find(String(runId)))?.status).toBe('cancelled')
  expect((await metrics.repairs.get()).values).toContainEqual({
    labels: { repair: 'cancel_forced' },
    value: 1,
  })
})

test('gives back a slot that belongs to no run', async () => {
  const { messages } = await farm.submit(4, { concurrency: 2 })
  const [first] = messages
  await farm.sql(`delete from slots where run_id = ${first?.runId}`)
  const metrics = createLoopMetrics(createMetrics())
  await repairSlots({ recovery: farm.store.recovery, metrics, log })
  expect(await farm.sql('select count(*)::int as slots from slots')).toEqual([{ slots: 2 }])
  expect(await farm.sql('select count(*)::int as ready from outbox where ready')).toEqual([{ ready: 2 }])
})

test('forgets workers that have been gone for a day, and keeps the others', async () => {
  const [gone, recent, alive] = [await farm.join(), await farm.join(), await farm.join()]
  const hours = KEEP_WORKERS_MS / 3_600_000
  const lose = (id: string, ago: number) =>
    farm.sql(
      `update workers set lost_at = now() - interval '${ago} hours', lease_until = now() - interval '${ago} hours' where id = '${id}'`,
    )
  await lose(gone, hours + 1)
  await lose(recent, hours - 1)
  await pruneOnce({ store: farm.store, log })
  const left = (await farm.store.workers.list()).data.map(({ id }) => id)
  expect(left.sort()).toEqual([recent, alive].sort())
})

test('runs the loops of a server without a queue, and stops them in order', async () => {
  const loops = startLoops({
    store: farm.store,
    queue: undefined,
    log,
    metrics: createMetrics(),
    config: {
      worker: { leaseMs: LEASE_MS },
      runs: { maxAttempts: 3, quarantineAfter: 2, cancelGraceMs: 1_000 },
    },
  })
  loops.wake()
  await loops[Symbol.asyncDispose]()
  await farm.submit(1)
  expect(await farm.sql('select count(*)::int as waiting from outbox')).toEqual([{ waiting: 1 }])
})
