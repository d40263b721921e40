import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { openRunQueue, type Consumer, type Delivery, type QueueMessage, type RunQueue } from '../src/index.ts'
import { added, BACKENDS, message, newFarm, quiet, serveAll } from './backends.ts'

const PATIENCE_MS = 60_000
/** The shortest of several measurements counts: a busy machine may delay the others. */
const ROUNDS = 5
const never = new AbortController().signal

/** Takes messages one by one, like a worker with a single slot. */
const takeAll = async (consumer: Consumer, count: number): Promise<number[]> => {
  const order: number[] = []
  while (order.length < count) {
    for (const delivery of await consumer.take(1, AbortSignal.timeout(PATIENCE_MS))) {
      order.push(delivery.runId)
      await delivery.ack()
    }
  }
  return order
}

describe.each(BACKENDS)('the run queue on $kind', ({ open }) => {
  const at = forAllTests(open)

  const openQueue = (options: { farmId?: string; redeliverMs?: number } = {}): Promise<RunQueue> =>
    openRunQueue(at.backend, {
      farmId: options.farmId ?? newFarm(),
      role: 'master',
      log: quiet,
      redeliverMs: options.redeliverMs,
    })

  test('Messages are delivered by priority, the oldest first within a priority', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    await queue.add([message(1, 'low'), message(2, 'normal'), message(3, 'critical'), message(4, 'high')])
    await queue.add([message(5, 'low'), message(6, 'critical'), message(7, 'normal'), message(8, 'high')])
    expect(await takeAll(consumer, 8)).toEqual([3, 6, 4, 8, 2, 7, 1, 5])
  })

  test('Priority is strict across requirement classes', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    await queue.add([message(1, 'low'), message(2, 'low', 'docker'), message(3, 'normal', 'docker')])
    await queue.add([message(4, 'critical', 'docker tool:nmap'), message(5, 'high'), message(6, 'normal')])
    expect(await takeAll(consumer, 6)).toEqual([4, 5, 3, 6, 1, 2])
  })

  test('Runs of one priority are taken by age across requirement classes', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    // Each class numbers its messages separately, so a low number does not mean an old run.
    const classOf = (runId: number) => ['docker', 'ssh', ''][runId % 3] ?? ''
    const ids = Array.from({ length: 30 }, (_, index) => index + 1)
    await queue.add(ids.filter((id) => id % 3 === 1).map((id) => message(id, 'normal', 'ssh')))
    await queue.add(ids.filter((id) => id % 3 !== 1).map((id) => message(id, 'normal', classOf(id))))
    expect(await takeAll(consumer, 30)).toEqual(ids)
  })

  test.each([1, 3])(
    'a class that never empties does not starve another one, with %i messages at once',
    async (slots) => {
      await using queue = await openQueue()
      await using consumer = queue.consumer(serveAll)
      const old = Array.from({ length: 21 }, (_, index) => index + 1)
      let next = 100
      const addYounger = () =>
        queue.add(['', 'ssh', 'docker tool:nmap'].map((words) => message((next += 1), 'normal', words)))
      await addYounger()
      await queue.add(old.map((id) => message(id, 'normal', 'docker')))
      const order: number[] = []
      while (!old.every((id) => order.includes(id))) {
        await addYounger()
        const batch = await consumer.take(slots, AbortSignal.timeout(PATIENCE_MS))
        order.push(...batch.map(({ runId }) => runId))
        await Promise.all(batch.map((delivery) => delivery.ack()))
      }
      expect(order.length).toBeLessThan(5 * old.length)
      // A more urgent message still comes first, even if its run is newer.
      await queue.add([message(9_999, 'high', 'ssh')])
      expect(await takeAll(consumer, 1)).toEqual([9_999])
    },
  )

  test('A consumer only gets messages of the classes that it serves', async () => {
    await using queue = await openQueue()
    await using plain = queue.consumer({ serves: (words) => words === '' })
    await queue.add([message(1, 'critical', 'docker'), message(2, 'low')])
    expect(await takeAll(plain, 1)).toEqual([2])
    await using docker = queue.consumer({ serves: (words) => words === 'docker' || words === '' })
    expect(await takeAll(docker, 1)).toEqual([1])
  })

  test('An idle consumer notices the first message of a new class', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    const taking = takeAll(consumer, 1)
    await queue.add([message(1, 'normal', 'label:region=eu')])
    expect(await taking).toEqual([1])
  })

  test('A consumer with several free slots takes the most urgent messages at once', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    await queue.add([message(1, 'low'), message(2, 'high'), message(3, 'normal'), message(4, 'high')])
    const first = await consumer.take(3, never)
    expect(first.map(({ runId }) => runId).sort()).toEqual([2, 3, 4])
    const second = await consumer.take(3, never)
    expect(second.map(({ runId }) => runId)).toEqual([1])
    await Promise.all([...first, ...second].map((delivery) => delivery.ack()))
  })

  test('A message is delivered to one consumer only', async () => {
    await using queue = await openQueue()
    await using one = queue.consumer(serveAll)
    await using two = queue.consumer(serveAll)
    const total = 60
    const stop = new AbortController()
    const seen: number[] = []
    const drain = async (consumer: Consumer) => {
      for (;;) {
        const batch = await consumer.take(4, stop.signal)
        if (batch.length === 0) return
        seen.push(...batch.map(({ runId }) => runId))
        await Promise.all(batch.map((delivery) => delivery.ack()))
        if (seen.length >= total) stop.abort()
      }
    }
    await queue.add(Array.from({ length: total }, (_, index) => message(index + 1, 'normal')))
    await Promise.all([drain(one), drain(two)])
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: total }, (_, index) => index + 1))
  })

  test('A message without a priority is rejected', async () => {
    await using queue = await openQueue()
    const nameless = { ...message(1, 'low'), priority: JSON.parse('"urgent"') }
    await expect(queue.add([nameless])).rejects.toThrow(
      'needs one of the priorities critical, high, normal, low',
    )
    await expect(queue.add([{ ...nameless, priority: JSON.parse('null') }])).rejects.toThrow('priorities')
    expect(await queue.waiting('')).toEqual({ critical: 0, high: 0, normal: 0, low: 0 })
  })

  test('The same run and epoch is added once, and a new epoch is another message', async () => {
    await using queue = await openQueue()
    await queue.add([message(1, 'low'), message(1, 'low')])
    await queue.add([message(1, 'low'), message(1, 'low', '', 2)])
    expect(await queue.waiting('')).toEqual({ critical: 0, high: 0, normal: 0, low: 2 })
  })

  test('A delivery has the run and its epoch', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    await queue.add([message(7, 'low', '', 3)])
    const [delivery] = await consumer.take(1, never)
    expect(delivery).toMatchObject({ runId: 7, epoch: 3 })
    await delivery?.ack()
  })

  test('Waiting messages are counted by class and priority', async () => {
    await using queue = await openQueue()
    await queue.add([
      message(1, 'low'),
      message(2, 'low'),
      message(3, 'critical'),
      message(4, 'high', 'docker'),
    ])
    expect(await queue.waiting('')).toEqual({ critical: 1, high: 0, normal: 0, low: 2 })
    expect(await queue.waiting('docker')).toEqual({ critical: 0, high: 1, normal: 0, low: 0 })
    expect(await queue.waiting('ssh')).toEqual({ critical: 0, high: 0, normal: 0, low: 0 })
  })

  test('A message exists until it is acknowledged, also while it is taken', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    const [here, taken, docker, absent] = [
      message(1, 'low'),
      message(2, 'high'),
      message(3, 'low', 'docker'),
      message(4, 'low'),
    ]
    await queue.add([here, taken, docker])
    const [delivery] = await consumer.take(1, never)
    expect(delivery?.runId).toBe(2)
    expect(await queue.has([absent, here, taken, docker])).toEqual([false, true, true, true])
    await delivery?.ack()
    expect(await queue.has([absent, here, taken, docker])).toEqual([false, true, false, true])
    expect(await queue.has([{ ...here, epoch: 2 }])).toEqual([false])
    expect(await queue.has([])).toEqual([])
  })

  test('A waiting message can be removed', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    await queue.add([message(1, 'low'), message(2, 'low'), message(3, 'low', 'docker')])
    await queue.remove([message(1, 'low'), message(3, 'low', 'docker'), message(9, 'low')])
    expect(await queue.has([message(1, 'low'), message(2, 'low'), message(3, 'low', 'docker')])).toEqual([
      false,
      true,
      false,
    ])
    expect(await takeAll(consumer, 1)).toEqual([2])
  })

  test('A released message returns to its place', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    await queue.add([message(1, 'high'), message(2, 'low')])
    const [delivery] = await consumer.take(1, never)
    expect(delivery?.runId).toBe(1)
    await delivery?.release()
    expect(await takeAll(consumer, 2)).toEqual([1, 2])
  })

  test('An idle consumer is notified at once', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    await takeWarm(queue, consumer)
    const waits: number[] = []
    for (let runId = 1; runId <= ROUNDS; runId += 1) {
      const taking = consumer.take(8, never)
      const began = performance.now()
      await queue.add([message(runId, 'low')])
      const [delivery] = await taking
      waits.push(performance.now() - began)
      expect(delivery?.runId).toBe(runId)
      await delivery?.ack()
    }
    // Without a notification the consumer would read the queue a second later.
    expect(Math.min(...waits)).toBeLessThan(500)
  })

  const takeWarm = async (queue: RunQueue, consumer: Consumer) => {
    await queue.add([message(99, 'low')])
    await takeAll(consumer, 1)
  }

  test('A second consumer is notified when messages remain', async () => {
    await using queue = await openQueue()
    await using one = queue.consumer(serveAll)
    await using two = queue.consumer(serveAll)
    const takes = [one.take(1, never), two.take(1, never)]
    await queue.add([message(1, 'low'), message(2, 'low')])
    const got = (await Promise.all(takes)).flat()
    expect(got.map(({ runId }) => runId).sort()).toEqual([1, 2])
    await Promise.all(got.map((delivery) => delivery.ack()))
  })

  test('An aborted take resolves to nothing and leaves the messages', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    const stop = new AbortController()
    const taking = consumer.take(1, stop.signal)
    stop.abort()
    expect(await taking).toEqual([])
    expect(await consumer.take(1, stop.signal)).toEqual([])
    await queue.add([message(1, 'low')])
    await using other = queue.consumer(serveAll)
    expect(await takeAll(other, 1)).toEqual([1])
  })

  test('The message of a dead consumer is delivered again in bounded time', async () => {
    const farmId = newFarm()
    const redeliverMs = 1_500
    await using queue = await openQueue({ farmId, redeliverMs })
    await queue.add([message(1, 'low')])
    let lost: Delivery[] = []
    {
      await using dying = await openQueue({ farmId, redeliverMs })
      await using consumer = dying.consumer(serveAll)
      lost = await consumer.take(1, never)
    }
    const taken = performance.now()
    expect(lost.map(({ runId }) => runId)).toEqual([1])
    await using survivor = queue.consumer(serveAll)
    expect(await takeAll(survivor, 1)).toEqual([1])
    // The default is ten times this value.
    expect(performance.now() - taken).toBeLessThan(REDELIVER_BY_ITSELF_MS)
    await settle(queue, survivor, message(1, 'low'))
  })

  const REDELIVER_BY_ITSELF_MS = 15_000

  /** Repeats until the message is deleted: it is delivered again if its lock expires before the acknowledgement. */
  const settle = (queue: RunQueue, consumer: Consumer, of: QueueMessage) =>
    until(async () => {
      if ((await queue.has([of]))[0] === false) return true
      for (const delivery of await consumer.take(1, AbortSignal.timeout(1_000))) await delivery.ack()
      return false
    })

  test('A message is delivered again as often as its consumers die', async () => {
    await using queue = await openQueue({ redeliverMs: 450 })
    await using consumer = queue.consumer(serveAll)
    await queue.add([message(1, 'low')])
    for (let deaths = 0; deaths < 3; deaths += 1)
      expect(await consumer.take(1, AbortSignal.timeout(PATIENCE_MS))).toMatchObject([{ runId: 1 }])
    expect(await takeAll(consumer, 1)).toEqual([1])
  })

  test('A message cannot be settled after its lock has expired', async () => {
    const farmId = newFarm()
    await using queue = await openQueue({ farmId, redeliverMs: 600 })
    await using patient = await openQueue({ farmId, redeliverMs: PATIENCE_MS })
    await using slow = queue.consumer(serveAll)
    await using careful = patient.consumer(serveAll)
    await queue.add([message(1, 'low')])
    const [late] = await slow.take(1, never)
    const [again] = await careful.take(1, AbortSignal.timeout(PATIENCE_MS))
    expect(again?.runId).toBe(1)
    await late?.ack()
    await late?.release()
    expect(await queue.has([message(1, 'low')])).toEqual([true])
    await again?.ack()
    expect(await queue.has([message(1, 'low')])).toEqual([false])
  })

  test('Every listener of the farm gets the runs to cancel', async () => {
    const farmId = newFarm()
    await using master = await openQueue({ farmId })
    await using worker = await openQueue({ farmId })
    await using stranger = await openQueue()
    const heard: number[][] = [[], []]
    const foreign: number[] = []
    await using _one = await worker.onSignal(({ runIds }) => heard[0]?.push(...runIds))
    await using _two = await master.onSignal(({ runIds }) => heard[1]?.push(...runIds))
    await using _three = await stranger.onSignal(({ runIds }) => foreign.push(...runIds))
    const ids = Array.from({ length: 1_000 }, (_, index) => 2 ** 40 + index)
    await master.publishCancel([])
    await master.publishCancel(ids.map((runId) => ({ runId })))
    await until(() => heard.every((one) => one.length >= ids.length))
    expect(heard).toEqual([ids, ids])
    expect(foreign).toEqual([])
  })

  test('Two farms on one backend are isolated', async () => {
    await using ours = await openQueue()
    await using theirs = await openQueue()
    await using consumer = theirs.consumer(serveAll)
    await ours.add([message(1, 'critical'), message(2, 'critical', 'docker')])
    await theirs.add([message(3, 'low')])
    expect(await takeAll(consumer, 1)).toEqual([3])
    expect(await theirs.waiting('')).toEqual({ critical: 0, high: 0, normal: 0, low: 0 })
    expect(await ours.generation()).not.toBe(await theirs.generation())
  })

  test('The generation is the same for all clients while no message is lost', async () => {
    const farmId = newFarm()
    await using one = await openQueue({ farmId })
    await using two = await openQueue({ farmId })
    const [a, b] = await Promise.all([one.generation(), two.generation()])
    expect(a).toBe(b)
    await one.add([message(1, 'low')])
    expect(await two.generation()).toBe(a)
  })

  test('The check resolves when messages can be written', async () => {
    await using queue = await openQueue()
    await expect(queue.check()).resolves.toBeUndefined()
  })

  test('The queue stays fast with 20,000 waiting messages', async () => {
    await using queue = await openQueue()
    await using consumer = queue.consumer(serveAll)
    const many = Array.from({ length: 20_000 }, (_, index) => message(index + 1, 'low'))
    await until(() => added(queue, many))
    expect(await queue.waiting('')).toEqual({ critical: 0, high: 0, normal: 0, low: 20_000 })
    expect((await queue.has(many)).every(Boolean)).toBe(true)
    const waits: number[] = []
    for (let round = 1; round <= ROUNDS; round += 1) {
      const began = performance.now()
      await queue.add([message(30_000 + round, 'critical')])
      expect(await takeAll(consumer, 2)).toEqual([30_000 + round, round])
      waits.push(performance.now() - began)
    }
    expect(Math.min(...waits)).toBeLessThan(1_000)
  })
})
