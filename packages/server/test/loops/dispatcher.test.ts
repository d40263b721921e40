import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { RunQueue } from '@scanfarm/queue'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { Dispatcher } from '../../src/loops/dispatcher.ts'
import { openLoopHarness } from './_loop-harness.ts'

const NONE = { critical: 0, high: 0, normal: 0, low: 0 }

const harness = forAllTests(() => openLoopHarness())
beforeEach(async () => {
  await harness.join()
})
afterEach(async () => {
  await harness.reset()
})

const newDispatcher = (queue: Pick<RunQueue, 'add' | 'waiting'> = harness.queue): Dispatcher =>
  new Dispatcher({ outbox: harness.store.outbox, workers: harness.store.workers, queue })

const dispatchAll = async (dispatcher = newDispatcher()): Promise<void> => {
  while (await dispatcher.dispatchOnce());
}

const outboxSize = async (): Promise<number> =>
  Number((await harness.sql('select count(*)::int as count from outbox'))[0]?.['count'])

/** Takes and claims until the queue is empty; returns the run ids in order. */
const consumeAll = async (): Promise<number[]> => {
  const workerId = await harness.join({ capabilities: ['docker'] })
  await using consumer = harness.queue.consumer({ serves: () => true })
  const order: number[] = []
  while (Object.values(await harness.queue.waiting('')).some((count) => count > 0)) {
    const batch = await consumer.take(50, AbortSignal.timeout(60_000))
    const claimed = await harness.runStore.claim(workerId, batch)
    order.push(...claimed.map(({ runId }) => runId))
    await Promise.all(batch.map((message) => message.ack()))
  }
  return order
}

test('the dispatcher sends ready runs with class and priority and empties the outbox', async () => {
  await harness.join({ capabilities: ['docker'] })
  const low = await harness.submit(3, { priority: 'low' })
  const docker = await harness.submit(2, { priority: 'critical', requirementClass: 'docker' })
  await dispatchAll()
  expect(await harness.queue.waiting('')).toEqual({ ...NONE, low: 3 })
  expect(await harness.queue.waiting('docker')).toEqual({ ...NONE, critical: 2 })
  expect(await harness.queue.has([...low.messages, ...docker.messages])).toEqual(new Array(5).fill(true))
  expect(await outboxSize()).toBe(0)
})

test('the dispatcher leaves a class without a live worker in the outbox until one joins', async () => {
  const { messages } = await harness.submit(2, { requirementClass: 'docker tool:nmap' })
  const dispatcher = newDispatcher()
  await dispatchAll(dispatcher)
  expect(await harness.queue.has(messages)).toEqual([false, false])
  await harness.join({ capabilities: ['docker'] })
  await dispatchAll()
  expect(await outboxSize()).toBe(2)
  await harness.join({ capabilities: ['docker', 'label:region=eu', 'tool:nmap'] })
  await until(async () => {
    await dispatchAll(dispatcher)
    return (await outboxSize()) === 0
  })
  expect(await harness.queue.has(messages)).toEqual([true, true])
})

test('the dispatcher sends nothing while no worker is alive', async () => {
  await harness.sql("update workers set lease_until = now() - interval '1 minute'")
  await harness.submit(1)
  await dispatchAll()
  expect(await outboxSize()).toBe(1)
})

test('a throttled job does not delay another job', async () => {
  const throttled = await harness.submit(50, { concurrency: 2, priority: 'high' })
  const free = await harness.submit(5, { priority: 'low' })
  await dispatchAll()
  expect(await harness.queue.has(free.messages)).toEqual(new Array(5).fill(true))
  expect((await harness.queue.has(throttled.messages)).filter(Boolean)).toHaveLength(2)
})

test('the rows of a dispatcher that died before removing them are sent again as one message', async () => {
  const { messages } = await harness.submit(10)
  const rows = await harness.store.outbox.take({
    classes: [''],
    capacity: { critical: 100, high: 100, normal: 100, low: 100 },
    limit: 100,
    staleMs: 60_000,
  })
  await harness.queue.add(rows.slice(0, 6))
  await dispatchAll()
  expect(await outboxSize()).toBe(10)
  await harness.sql("update outbox set sent_at = now() - interval '11 seconds'")
  await dispatchAll()
  expect(await outboxSize()).toBe(0)
  expect(await harness.queue.waiting('')).toEqual({ ...NONE, normal: 10 })
  expect((await consumeAll()).toSorted((a, b) => a - b)).toEqual(messages.map(({ runId }) => runId))
})

test('a dispatcher that has counted a class adds the runs of a submit itself and removes their rows in its next turn', async () => {
  const dispatcher = newDispatcher()
  expect(dispatcher.reserve({ requirementClass: '', priority: 'normal' })).toBe(0)
  await harness.submit(1)
  await dispatchAll(dispatcher)
  const capacity = dispatcher.reserve({ requirementClass: '', priority: 'normal' })
  expect(capacity).toBe(21_999)
  expect(dispatcher.reserve({ requirementClass: 'docker', priority: 'normal' })).toBe(0)
  const { messages, sent } = await harness.submit(3, {}, capacity)
  expect(sent.map(({ runId }) => runId)).toEqual(messages.map(({ runId }) => runId))
  await dispatcher.send(sent)
  expect(await harness.queue.waiting('')).toEqual({ ...NONE, normal: 4 })
  expect(await outboxSize()).toBe(3)
  await dispatcher.dispatchOnce()
  expect(await outboxSize()).toBe(0)
})

test('runs whose master died before it added them are sent by another one', async () => {
  const { messages } = await harness.submit(2, {}, 10)
  await dispatchAll()
  expect(await harness.queue.has(messages)).toEqual([false, false])
  await harness.sql("update outbox set sent_at = now() - interval '11 seconds'")
  await dispatchAll()
  expect(await harness.queue.has(messages)).toEqual([true, true])
})

test('runs that could not be added to the queue are sent by the next turn', async () => {
  const { messages, sent } = await harness.submit(2, {}, 10)
  let isDown = true
  const queue = {
    waiting: harness.queue.waiting.bind(harness.queue),
    add: async (rows: Parameters<RunQueue['add']>[0]) => {
      if (isDown) throw new Error('unavailable')
      await harness.queue.add(rows)
    },
  }
  const dispatcher = newDispatcher(queue)
  await dispatcher.send(sent)
  isDown = false
  await dispatchAll(dispatcher)
  expect(await harness.queue.has(messages)).toEqual([true, true])
})

test('a message that is sent again after its run was claimed starts nothing', async () => {
  const { messages } = await harness.submit(1)
  const rows = await harness.store.outbox.take({
    classes: [''],
    capacity: { critical: 100, high: 100, normal: 100, low: 100 },
    limit: 100,
    staleMs: 60_000,
  })
  await harness.queue.add(rows)
  expect(await consumeAll()).toEqual(messages.map(({ runId }) => runId))
  await harness.sql("update outbox set sent_at = now() - interval '11 seconds'")
  await dispatchAll()
  expect(await consumeAll()).toEqual([])
  expect(await harness.queue.waiting('')).toEqual(NONE)
})

test('two concurrent dispatchers send each run once', async () => {
  const { messages } = await harness.submit(5_000)
  await Promise.all([dispatchAll(), dispatchAll()])
  expect(await outboxSize()).toBe(0)
  expect(await harness.queue.waiting('')).toEqual({ ...NONE, normal: messages.length })
})

test('the dispatcher marks and loses nothing while the queue is unavailable', async () => {
  const dispatcher = newDispatcher()
  await harness.redis.kill()
  await harness.submit(3)
  await expect(dispatcher.dispatchOnce()).rejects.toThrow()
  expect(await harness.sql('select count(*)::int as sent from outbox where sent_at is not null')).toEqual([
    { sent: 0 },
  ])
  await harness.redis.restart()
  await until(() => sent(dispatcher))
  expect(await harness.queue.waiting('')).toEqual({ ...NONE, normal: 3 })
})

test('the dispatcher resends an interrupted batch as soon as the queue is available', async () => {
  await harness.submit(3)
  let broken = false
  const dispatcher = newDispatcher({
    waiting: (requirementClass) => harness.queue.waiting(requirementClass),
    async add(rows) {
      if (!broken) await harness.redis.kill()
      broken = true
      await harness.queue.add(rows)
    },
  })
  await expect(dispatcher.dispatchOnce()).rejects.toThrow()
  await harness.redis.restart()
  // As if they had just been marked, however long this takes, so that they are not stale.
  const young = () => harness.sql('update outbox set sent_at = now() where sent_at is not null')
  await until(async () => {
    await young()
    return sent(dispatcher)
  })
  expect(await harness.queue.waiting('')).toEqual({ ...NONE, normal: 3 })
})

const sent = async (dispatcher: Dispatcher): Promise<boolean> => {
  await dispatcher.dispatchOnce().catch(() => false)
  return (await outboxSize()) === 0
}

test('the dispatcher limits the messages of one priority without delaying other priorities', async () => {
  const { outbox, workers } = harness.store
  const { messages } = await harness.submit(540, { priority: 'low' })
  const dispatcher = new Dispatcher({ outbox, workers, queue: harness.queue, maxQueued: 500 })
  await dispatchAll(dispatcher)
  expect(await harness.queue.waiting('')).toEqual({ ...NONE, low: 500 })
  expect(await outboxSize()).toBe(40)
  await harness.submit(1, { priority: 'critical' })
  await dispatchAll(dispatcher)
  expect(await harness.queue.waiting('')).toEqual({ ...NONE, critical: 1, low: 500 })
  await harness.queue.remove(messages.slice(0, 30))
  await dispatchAll(dispatcher)
  expect(await outboxSize()).toBe(10)
  expect((await harness.queue.waiting('')).low).toBe(500)
})

test('a small job is sent at once while the queue is full of a large one, until new jobs have used their room', async () => {
  const { outbox, workers } = harness.store
  await harness.submit(540)
  const dispatcher = new Dispatcher({ outbox, workers, queue: harness.queue, maxQueued: 500 })
  await dispatchAll(dispatcher)
  const reserve = () => dispatcher.reserve({ requirementClass: '', priority: 'normal' })
  for (const left of [1_990, 1_980]) {
    const { messages, sent } = await harness.submit(10, {}, reserve())
    await dispatcher.send(sent)
    expect(await harness.queue.has(messages)).toEqual(messages.map(() => true))
    expect(reserve()).toBe(left)
  }
  await dispatchAll(dispatcher)
  expect(await harness.queue.waiting('')).toEqual({ ...NONE, normal: 520 })
})

test('the dispatcher limits the queue to 20,000 messages of a priority by default', async () => {
  const { messages } = await harness.submit(1)
  const full = async () => ({ ...NONE, normal: 20_000 })
  await dispatchAll(newDispatcher({ add: (rows) => harness.queue.add(rows), waiting: full }))
  expect(await harness.queue.has(messages)).toEqual([false])
  const nearly = async () => ({ ...NONE, normal: 19_999 })
  await dispatchAll(newDispatcher({ add: (rows) => harness.queue.add(rows), waiting: nearly }))
  expect(await harness.queue.has(messages)).toEqual([true])
})
