import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { RunQueue } from '@scanfarm/queue'
import { Dispatcher } from '../../src/loops/dispatcher/dispatcher.ts'
import { openFarm, until, type TestFarm } from './_farm.ts'

const NONE = { critical: 0, high: 0, normal: 0, low: 0 }

let farm: TestFarm
beforeAll(async () => {
  farm = await openFarm()
})
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await farm.join()
})
afterEach(async () => {
  await farm.reset()
})

const newDispatcher = (queue: Pick<RunQueue, 'add' | 'waiting'> = farm.queue): Dispatcher =>
  new Dispatcher({ outbox: farm.store.outbox, workers: farm.store.workers, queue })

const dispatchAll = async (dispatcher = newDispatcher()): Promise<void> => {
  while (await dispatcher.dispatchOnce());
}

const outboxSize = async (): Promise<number> =>
  Number((await farm.sql('select count(*)::int as count from outbox'))[0]?.['count'])

/** Takes and claims until the queue is empty; the run ids in the order in which they came. */
const consumeAll = async (): Promise<number[]> => {
  const workerId = await farm.join({ capabilities: ['docker'] })
  await using consumer = farm.queue.consumer({ serves: () => true })
  const order: number[] = []
  while (Object.values(await farm.queue.waiting('')).some((count) => count > 0)) {
    const batch = await consumer.take(50, AbortSignal.timeout(60_000))
    const claimed = await farm.runStore.claim(workerId, batch)
    order.push(...claimed.map(({ runId }) => runId))
    await Promise.all(batch.map((message) => message.ack()))
  }
  return order
}

test('sends ready runs with class and priority, and empties the outbox', async () => {
  await farm.join({ capabilities: ['docker'] })
  const low = await farm.submit(3, { priority: 'low' })
  const docker = await farm.submit(2, { priority: 'critical', requirementClass: 'docker' })
  await dispatchAll()
  expect(await farm.queue.waiting('')).toEqual({ ...NONE, low: 3 })
  expect(await farm.queue.waiting('docker')).toEqual({ ...NONE, critical: 2 })
  expect(await farm.queue.has([...low.messages, ...docker.messages])).toEqual(new Array(5).fill(true))
  expect(await outboxSize()).toBe(0)
})

test('leaves a class that no live worker serves where it is until one comes', async () => {
  const { messages } = await farm.submit(2, { requirementClass: 'docker tool:nmap' })
  const dispatcher = newDispatcher()
  await dispatchAll(dispatcher)
  expect(await farm.queue.has(messages)).toEqual([false, false])
  await farm.join({ capabilities: ['docker'] })
  await dispatchAll()
  expect(await outboxSize()).toBe(2)
  await farm.join({ capabilities: ['docker', 'label:region=eu', 'tool:nmap'] })
  await until(async () => {
    await dispatchAll(dispatcher)
    return (await outboxSize()) === 0
  })
  expect(await farm.queue.has(messages)).toEqual([true, true])
})

test('sends nothing while no worker is alive', async () => {
  await farm.sql("update workers set lease_until = now() - interval '1 minute'")
  await farm.submit(1)
  await dispatchAll()
  expect(await outboxSize()).toBe(1)
})

test('never lets a throttled job hold back another one', async () => {
  const throttled = await farm.submit(50, { concurrency: 2, priority: 'high' })
  const free = await farm.submit(5, { priority: 'low' })
  await dispatchAll()
  expect(await farm.queue.has(free.messages)).toEqual(new Array(5).fill(true))
  expect((await farm.queue.has(throttled.messages)).filter(Boolean)).toHaveLength(2)
})

test('sends the rows of a dispatcher that died before removing them again, as one message', async () => {
  const { messages } = await farm.submit(10)
  const rows = await farm.store.outbox.take({
    classes: [''],
    room: { critical: 100, high: 100, normal: 100, low: 100 },
    limit: 100,
    staleMs: 60_000,
  })
  await farm.queue.add(rows.slice(0, 6))
  await dispatchAll()
  expect(await outboxSize()).toBe(10)
  await farm.sql("update outbox set sent_at = now() - interval '11 seconds'")
  await dispatchAll()
  expect(await outboxSize()).toBe(0)
  expect(await farm.queue.waiting('')).toEqual({ ...NONE, normal: 10 })
  expect((await consumeAll()).toSorted((a, b) => a - b)).toEqual(messages.map(({ runId }) => runId))
})

test('a message that is sent again after its run was claimed starts nothing', async () => {
  const { messages } = await farm.submit(1)
  const rows = await farm.store.outbox.take({
    classes: [''],
    room: { critical: 100, high: 100, normal: 100, low: 100 },
    limit: 100,
    staleMs: 60_000,
  })
  await farm.queue.add(rows)
  expect(await consumeAll()).toEqual(messages.map(({ runId }) => runId))
  await farm.sql("update outbox set sent_at = now() - interval '11 seconds'")
  await dispatchAll()
  expect(await consumeAll()).toEqual([])
  expect(await farm.queue.waiting('')).toEqual(NONE)
})

test('two dispatchers at once send each run once', async () => {
  const { messages } = await farm.submit(5_000)
  await Promise.all([dispatchAll(), dispatchAll()])
  expect(await outboxSize()).toBe(0)
  expect(await farm.queue.waiting('')).toEqual({ ...NONE, normal: messages.length })
})

test('marks nothing while the queue is away, and loses nothing', async () => {
  const dispatcher = newDispatcher()
  await farm.redis.kill()
  await farm.submit(3)
  await expect(dispatcher.dispatchOnce()).rejects.toThrow()
  expect(await farm.sql('select count(*)::int as sent from outbox where sent_at is not null')).toEqual([
    { sent: 0 },
  ])
  await farm.redis.restart()
  await until(() => sent(dispatcher))
  expect(await farm.queue.waiting('')).toEqual({ ...NONE, normal: 3 })
})

test('sends at once what was under way when the queue went down', async () => {
  await farm.submit(3)
  let broken = false
  const dispatcher = newDispatcher({
    waiting: (requirementClass) => farm.queue.waiting(requirementClass),
    async add(rows) {
      if (!broken) await farm.redis.kill()
      broken = true
      await farm.queue.add(rows)
    },
  })
  await expect(dispatcher.dispatchOnce()).rejects.toThrow()
  await farm.redis.restart()
  // As if they had been marked just now, however long this takes: they do not grow stale first.
  const young = () => farm.sql('update outbox set sent_at = now() where sent_at is not null')
  await until(async () => {
    await young()
    return sent(dispatcher)
  })
  expect(await farm.queue.waiting('')).toEqual({ ...NONE, normal: 3 })
})

const sent = async (dispatcher: Dispatcher): Promise<boolean> => {
  await dispatcher.dispatchOnce().catch(() => false)
  return (await outboxSize()) === 0
}

test('keeps a bounded number of messages of a priority in the queue, and lets others pass', async () => {
  const { outbox, workers } = farm.store
  const { messages } = await farm.submit(540, { priority: 'low' })
  const dispatcher = new Dispatcher({ outbox, workers, queue: farm.queue, maxQueued: 500 })
  await dispatchAll(dispatcher)
  expect(await farm.queue.waiting('')).toEqual({ ...NONE, low: 500 })
  expect(await outboxSize()).toBe(40)
  await farm.submit(1, { priority: 'critical' })
  await dispatchAll(dispatcher)
  expect(await farm.queue.waiting('')).toEqual({ ...NONE, critical: 1, low: 500 })
  await farm.queue.remove(messages.slice(0, 30))
  await dispatchAll(dispatcher)
  expect(await outboxSize()).toBe(10)
  expect((await farm.queue.waiting('')).low).toBe(500)
})

test('bounds the queue at 20,000 messages of a priority by itself', async () => {
  const { messages } = await farm.submit(1)
  const full = async () => ({ ...NONE, normal: 20_000 })
  await dispatchAll(newDispatcher({ add: (rows) => farm.queue.add(rows), waiting: full }))
  expect(await farm.queue.has(messages)).toEqual([false])
  const nearly = async () => ({ ...NONE, normal: 19_999 })
  await dispatchAll(newDispatcher({ add: (rows) => farm.queue.add(rows), waiting: nearly }))
  expect(await farm.queue.has(messages)).toEqual([true])
})
