import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { until } from '@scanfarm/testing'
import { openRunQueue, QueueSetupError, type RunQueue } from '../src/index.ts'
import { queueName } from '../src/names.ts'
import { added, message, newFarm, patience, quiet, serveAll } from './backends.ts'
import { startRedis, type RedisServer } from './redis-server.ts'

const command = async (server: RedisServer, ...words: [string, ...string[]]): Promise<unknown> => {
  const client = new Redis(server.url)
  try {
    return await client.call(...words)
  } finally {
    client.disconnect()
  }
}

describe('the queue on a failing Redis', () => {
  let server: RedisServer
  let farmId: string
  beforeEach(async () => {
    server = await startRedis()
    farmId = newFarm()
  })
  afterEach(async () => {
    await server[Symbol.asyncDispose]()
  })

  const open = (role: 'master' | 'worker' = 'master'): Promise<RunQueue> =>
    openRunQueue({ kind: 'redis', url: server.url }, { farmId, role, log: quiet })

  const isBlocked = async (): Promise<boolean> =>
    String(await command(server, 'info', 'clients')).includes('blocked_clients:1')

  test('A flush of Redis changes the generation', async () => {
    await using queue = await open()
    const before = await queue.generation()
    await command(server, 'flushall')
    expect(await queue.generation()).not.toBe(before)
  })

  test('A restart of Redis changes the generation', async () => {
    await using queue = await open()
    const before = await queue.generation()
    await server.kill()
    await server.restart()
    await until(async () => (await queue.generation().catch(() => before)) !== before)
  })

  test('An idle consumer still receives messages after a flush', async () => {
    await using queue = await open()
    await using consumer = queue.consumer(serveAll)
    const taking = consumer.take(1, patience())
    await command(server, 'flushall')
    await queue.add([message(1)])
    expect((await taking).map(({ runId }) => runId)).toEqual([1])
  })

  test('An idle consumer still receives messages after Redis has forgotten the scripts', async () => {
    await using queue = await open()
    await using consumer = queue.consumer(serveAll)
    const taking = consumer.take(1, patience())
    await until(isBlocked)
    await command(server, 'script', 'flush')
    await queue.add([message(1)])
    expect((await taking).map(({ runId }) => runId)).toEqual([1])
  })

  test('A message that an aborted wait takes goes to another consumer, before its lock expires', async () => {
    const redeliverMs = 3_600_000
    await using queue = await openRunQueue(
      { kind: 'redis', url: server.url },
      { farmId, role: 'worker', log: quiet, redeliverMs },
    )
    await using consumer = queue.consumer(serveAll)
    const stop = new AbortController()
    const taking = consumer.take(1, stop.signal)
    await until(isBlocked)
    stop.abort()
    expect(await taking).toEqual([])
    await queue.add([message(1)])
    await using other = queue.consumer(serveAll)
    expect((await other.take(1, patience())).map(({ runId }) => runId)).toEqual([1])
  })

  test('A wait ends with at most as many messages as the caller wants then', async () => {
    await using queue = await open()
    await using consumer = queue.consumer(serveAll)
    const taking = consumer.take(8, patience(), 2)
    await until(isBlocked)
    await queue.add([1, 2, 3, 4, 5].map((runId) => message(runId)))
    expect((await taking).map(({ runId }) => runId)).toEqual([1, 2])
    expect((await consumer.take(8, patience(), 2)).map(({ runId }) => runId)).toEqual([3, 4, 5])
  })

  test('An acknowledgement of a flushed message has no effect', async () => {
    await using queue = await open()
    await using consumer = queue.consumer(serveAll)
    await queue.add([message(1)])
    const [delivery] = await consumer.take(1, patience())
    await command(server, 'flushall')
    await delivery?.ack()
    await queue.add([message(2)])
    const [next] = await consumer.take(1, patience())
    expect(next?.runId).toBe(2)
    await next?.ack()
  })

  test('Consumers and listeners continue after an outage of Redis', async () => {
    await using master = await open()
    await using worker = await open('worker')
    await using consumer = worker.consumer(serveAll)
    const cancelled: number[] = []
    await using _listening = await worker.onSignal(({ runIds }) => cancelled.push(...runIds))
    const taking = consumer.take(1, patience())
    // The client never settles a read that was blocked when the connection was lost.
    await until(async () => String(await command(server, 'info', 'clients')).includes('blocked_clients:1'))
    await server.kill()
    await expect(master.add([message(1)])).rejects.toThrow()
    await server.restart()
    await until(() => added(master, [message(1)]))
    expect((await taking).map(({ runId }) => runId)).toEqual([1])
    await until(async () => {
      await master.publishCancel([{ runId: 5 }])
      return cancelled.includes(5)
    })
  })

  test('Masters and workers can start before Redis', async () => {
    await server.kill()
    await using master = await open()
    await using worker = await open('worker')
    await using consumer = worker.consumer(serveAll)
    const taking = consumer.take(1, patience())
    await expect(master.check()).rejects.not.toBeInstanceOf(QueueSetupError)
    await server.restart()
    await until(() => added(master, [message(1)]))
    expect((await taking).map(({ runId }) => runId)).toEqual([1])
  })

  test('A command fails after five seconds without a response, and later ones succeed', async () => {
    await using queue = await open()
    await using consumer = queue.consumer(serveAll)
    await queue.check()
    server.freeze()
    const started = performance.now()
    await Promise.all([
      expect(queue.add([message(1)])).rejects.toThrow(),
      expect(queue.check()).rejects.toThrow(),
    ])
    const waited = performance.now() - started
    expect(waited).toBeGreaterThan(4_500)
    // It would never respond.
    expect(waited).toBeLessThan(30_000)
    const taking = consumer.take(1, patience())
    server.thaw()
    await until(() => added(queue, [message(2)]))
    expect((await taking).length).toBe(1)
  })

  test('The check rejects an eviction policy that may drop messages, with the reason and the remedy', async () => {
    await using strict = await startRedis(['--maxmemory-policy', 'allkeys-lru'])
    await using queue = await openRunQueue(
      { kind: 'redis', url: strict.url.replace('redis://', 'redis://default:secret@') },
      { farmId, role: 'master', log: quiet },
    )
    const refusal: unknown = await queue.check().catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(QueueSetupError)
    const text = String(refusal)
    expect(text).toContain('maxmemory-policy allkeys-lru')
    expect(text).toContain('noeviction')
    expect(text).not.toContain('secret')
  })

  test('The check rejects when the memory of Redis is full', async () => {
    await using queue = await open()
    await queue.check()
    await command(server, 'flushall')
    await command(server, 'config', 'set', 'maxmemory', '1')
    await expect(queue.check()).rejects.toThrow('OOM')
  })

  test('Messages of other programs are dropped', async () => {
    await using queue = await open()
    await using consumer = queue.consumer(serveAll)
    await queue.add([message(1), message(2)])
    await command(server, 'hset', `scanfarm:${farmId}.runs:r1-1`, 'data', '{"runId":"rm -rf"}')
    const [delivery] = await consumer.take(1, patience())
    expect(delivery?.runId).toBe(2)
    await delivery?.ack()
    expect(await queue.has([message(1), message(2)])).toEqual([false, false])
  })

  test('A consumer of several classes reads them again after a fetch that came back short', async () => {
    await using queue = await open()
    await queue.add([1, 2, 3].map((runId) => ({ ...message(runId), requirementClass: 'docker' })))
    const name = `scanfarm:${queueName(farmId, 'docker')}`
    await command(server, 'hset', `${name}:r1-1`, 'data', 'of another program')
    await using consumer = queue.consumer(serveAll)
    expect((await consumer.take(2, patience())).map(({ runId }) => runId)).toEqual([2])
    // Another consumer may have read it and then taken a more urgent message of another class.
    await command(server, 'del', `${name}:marker`)
    expect((await consumer.take(1, patience())).map(({ runId }) => runId)).toEqual([3])
    expect(String(await command(server, 'info', 'commandstats'))).not.toContain('cmdstat_bzpopmin')
  })

  test('BullMQ reads the messages and takes them in one order with its own', async () => {
    await using queue = await open()
    await queue.add([message(1), { ...message(2), priority: 'high' }, message(3)])
    const options = { connection: { url: server.url }, prefix: 'scanfarm' }
    const bull = new Queue<unknown>(`${farmId}.runs`, options)
    const worker = new Worker(`${farmId}.runs`, null, options)
    try {
      const name = 'of another program'
      await bull.add(name, {}, { jobId: 'r4-1', priority: 1 })
      await bull.add(name, {}, { jobId: 'r5-1', priority: 3 })
      await queue.add([message(6), message(5)])
      expect(await bull.getJob('r2-1')).toMatchObject({
        name: 'run',
        data: { runId: 2, epoch: 1 },
        priority: 2,
        timestamp: expect.any(Number),
      })
      const order: unknown[] = []
      for (let job = await nextOf(worker); job; job = await nextOf(worker)) order.push(job.id)
      expect(order).toEqual(['r4-1', 'r2-1', 'r1-1', 'r3-1', 'r5-1', 'r6-1'])
    } finally {
      await worker.close(true)
      await bull.close()
    }
  })

  const nextOf = (worker: Worker) => worker.getNextJob('a token', { block: false })

  /** Adds `count` messages of a job with ids from `from`. */
  const fill = (
    queue: RunQueue,
    from: number,
    count: number,
    owner = { jobNo: from, owner: 'a', weight: 1 },
  ) => queue.add(Array.from({ length: count }, (_, n) => ({ ...message(from + n), share: owner })))
  const takenOf = async (queue: RunQueue, count: number): Promise<number[]> => {
    await using consumer = queue.consumer(serveAll)
    const taken = []
    while (taken.length < count) {
      const batch = await consumer.take(count - taken.length, patience())
      taken.push(...batch.map(({ runId }) => runId))
      await Promise.all(batch.map((delivery) => delivery.ack()))
    }
    return taken
  }

  test('Ten small jobs start beside a large one that was queued before them', async () => {
    await using queue = await open()
    await fill(queue, 1_000_000, 5_000)
    for (let job = 1; job <= 10; job += 1) await fill(queue, job * 100, 10)
    const first = await takenOf(queue, 220)
    expect(first.filter((runId) => runId < 2_000)).toHaveLength(100)
    // The runs of a job stay in order, and the large job is not held up.
    const large = first.filter((runId) => runId >= 1_000_000)
    expect(large).toEqual(large.map((_, n) => 1_000_000 + n))
    const largeAmong = (count: number) => first.slice(0, count).filter((runId) => runId >= 1_000_000).length
    expect(largeAmong(30)).toBe(1)
    expect(largeAmong(50)).toBeGreaterThan(4)
    expect(await takenOf(queue, 3)).toEqual([1_000_120, 1_000_121, 1_000_122])
  })

  test('Owners get runs by weight, however many jobs they have', async () => {
    await using queue = await open()
    for (let round = 0; round < 20; round += 1) {
      for (let job = 1; job <= 4; job += 1)
        await fill(queue, 10_000 * job + 50 * round, 50, { jobNo: job, owner: 'a', weight: 1 })
      await fill(queue, 100_000 + 50 * round, 50, { jobNo: 9, owner: 'b', weight: 3 })
    }
    const taken = await takenOf(queue, 1_000)
    const heavy = taken.filter((runId) => runId >= 100_000).length
    expect(heavy).toBeGreaterThan(675)
    expect(heavy).toBeLessThan(825)
  })

  test('The first runs of an owner come at once, and it keeps to about its share', async () => {
    await using queue = await open()
    await fill(queue, 200_000, 200, { jobNo: 1, owner: 'b', weight: 1 })
    await fill(queue, 1_000, 10, { jobNo: 2, owner: 'c', weight: 1 })
    expect((await takenOf(queue, 11)).filter((runId) => runId < 100_000)).toHaveLength(10)
    const taken = []
    for (let round = 1; round <= 120; round += 1) {
      await fill(queue, 200_000 + 200 * round, 20, { jobNo: 1, owner: 'b', weight: 1 })
      await fill(queue, 1_000 + 100 * round, 15, { jobNo: 2 + round, owner: 'c', weight: 1 })
      taken.push(...(await takenOf(queue, 20)))
    }
    const ofSmall = taken.filter((runId) => runId < 100_000).length
    expect(ofSmall).toBeGreaterThan(1_080)
    expect(ofSmall).toBeLessThan(1_400)
  })

  test('An owner that adds small jobs beside a large one gets no more than its share', async () => {
    await using queue = await open()
    const taken = []
    for (let round = 0; round < 80; round += 1) {
      await fill(queue, 100_000 + 20 * round, 20, { jobNo: 1, owner: 'a', weight: 1 })
      await fill(queue, 200_000 + 20 * round, 20, { jobNo: 2, owner: 'b', weight: 1 })
      await fill(queue, 1_000 + 10 * round, 10, { jobNo: 10 + round, owner: 'a', weight: 1 })
      taken.push(...(await takenOf(queue, 40)))
    }
    expect(taken.filter((runId) => runId < 100_000).length).toBeGreaterThan(780)
    const ofOther = taken.filter((runId) => runId >= 200_000).length
    expect(ofOther).toBeGreaterThan(1_440)
    expect(ofOther).toBeLessThan(1_760)
  })

  test('A job that waits no longer does not lower the share of its owner, one whose last message was removed waits', async () => {
    await using queue = await open()
    const other = { jobNo: 1, owner: 'b', weight: 1 }
    const own = { jobNo: 3, owner: 'a', weight: 1 }
    await fill(queue, 100_000, 500, other)
    await fill(queue, 2_000, 100, own)
    await fill(queue, 1_000, 400, { ...own, jobNo: 2 })
    await queue.forget({ jobNo: 2, owner: 'a', priority: 'normal', requirementClass: '' })
    await queue.remove(Array.from({ length: 400 }, (_, n) => message(1_000 + n)))
    await queue.remove([message(2_099)])
    await fill(queue, 3_000, 300, own)
    const taken = await takenOf(queue, 300)
    const share = taken.filter((runId) => runId < 100_000).length
    expect(share).toBeGreaterThan(135)
    expect(share).toBeLessThan(180)
  })

  test('A class that was empty for long does not precede the others when it gets messages', async () => {
    await using queue = await open()
    await fill(queue, 1, 300)
    await takenOf(queue, 200)
    await queue.add(
      Array.from({ length: 100 }, (_, n) => ({
        ...message(1_001 + n),
        requirementClass: 'docker',
        share: { jobNo: 2, owner: 'b', weight: 1 },
      })),
    )
    const taken = await takenOf(queue, 40)
    expect(taken.filter((runId) => runId < 1_000).length).toBeGreaterThan(15)
    expect(taken.filter((runId) => runId > 1_000).length).toBeGreaterThan(15)
  })

  test('A waiting message uses less than a kilobyte', async () => {
    await using queue = await open()
    // The buffers of connections are subtracted, because their size varies.
    const used = async () => {
      const memory = String(await command(server, 'info', 'memory'))
      const figure = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(memory)?.[1])
      return figure('used_memory') - figure('mem_clients_normal')
    }
    await queue.add([message(1)])
    const before = await used()
    const count = 5_000
    const many = Array.from({ length: count }, (_, index) => message(index + 2))
    await until(() => added(queue, many))
    const perMessage = ((await used()) - before) / count
    expect(perMessage).toBeLessThan(1_024)
  })
})
