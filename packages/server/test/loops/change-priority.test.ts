import { describe, expect, test } from '@jest/globals'
import { createMetrics, silentLogger } from '@scanfarm/platform'
import { openRunQueue, type RunQueue } from '@scanfarm/queue'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { Dispatcher } from '../../src/loops/dispatcher.ts'
import { createLoopMetrics } from '../../src/loops/metrics.ts'
import { finishPriorities } from '../../src/loops/recovery.ts'
import { VoidMessageRemover } from '../../src/void-messages.ts'
import { openLoopHarness } from './_loop-harness.ts'

const harness = forAllTests(() => openLoopHarness())

const byId = (ids: readonly number[]): number[] => ids.toSorted((a, b) => a - b)

const openQueue = async (kind: 'redis' | 'postgres'): Promise<RunQueue> =>
  openRunQueue(
    { kind, url: kind === 'redis' ? harness.redis.url : harness.url },
    { farmId: await harness.store.farmId(), role: 'master', log: silentLogger },
  )

test('A removal that fails is logged, also when its caller never waits for it', async () => {
  const queue = await openQueue('redis')
  await queue[Symbol.asyncDispose]()
  const warnings: string[] = []
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  try {
    const log = { ...silentLogger, warn: (text: string) => void warnings.push(text) }
    const remover = new VoidMessageRemover(queue, log)
    remover.remove([{ runId: 1, epoch: 0 }], '')
    await until(() => warnings.length + unhandled.length > 0)
    await remover.finish()
    expect(warnings).toEqual(['void messages stay in the queue, or count in shares; they claim nothing'])
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', note)
  }
})

describe.each(['redis', 'postgres'] as const)('on a queue in %s', (kind) => {
  const prepare = async () => {
    await harness.reset()
    const queue = await openQueue(kind)
    const workerId = await harness.join()
    const dispatch = async (maxQueued?: number): Promise<void> => {
      const dispatcher = new Dispatcher({
        outbox: harness.store.outbox,
        workers: harness.store.workers,
        queue,
        ...(maxQueued !== undefined && { maxQueued }),
      })
      while (await dispatcher.dispatchOnce());
    }
    const claimSome = async (count: number): Promise<number[]> => {
      await using consumer = queue.consumer({ serves: () => true })
      const order: number[] = []
      // One message at a time: those of one fetch come in any order. `take` waits, so the time limit of the test ends this.
      while (order.length < count)
        for (const message of await consumer.take(1, AbortSignal.timeout(30_000))) {
          const claimed = await harness.runStore.claim(workerId, [message])
          order.push(...claimed.map(({ runId }) => runId))
          await message.ack()
        }
      return order
    }
    return { queue, dispatch, claimSome, [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose]() }
  }

  const change = (queue: RunQueue | undefined, jobId: string, priority: 'low' | 'critical') =>
    harness.store.jobs.changePriority(jobId, priority, (messages, requirementClass) => {
      void queue?.remove(messages.map((message) => ({ ...message, requirementClass })))
    })

  test('a raised job starts before all others, whether its messages were sent or not, and no run twice', async () => {
    await using farm = await prepare()
    const first = await harness.submit(60, { priority: 'high' })
    const raised = await harness.submit(60, { priority: 'low' })
    // Half of the runs of each priority are in the queue, the others in the outbox.
    await farm.dispatch(30)
    const result = await change(farm.queue, raised.jobId, 'critical')
    expect(result).toMatchObject({ waiting: { priority: 'low' }, changed: 60, later: false })
    await farm.dispatch()
    const ids = (of: typeof first): number[] => of.messages.map(({ runId }) => runId)
    const order = await farm.claimSome(120)
    expect(byId(order.slice(0, 60))).toEqual(ids(raised))
    expect(byId(order.slice(60))).toEqual(ids(first))
    expect(await harness.sql('select 1 from outbox')).toEqual([])
  })

  test('a lowered job starts after all others; void messages that stay in the queue start nothing', async () => {
    await using farm = await prepare()
    const lowered = await harness.submit(40, { priority: 'critical' })
    const other = await harness.submit(40)
    await farm.dispatch()
    const running = await farm.claimSome(5)
    expect(await change(undefined, lowered.jobId, 'low')).toMatchObject({
      waiting: { priority: 'critical' },
      changed: 35,
      later: false,
    })
    await farm.dispatch()
    const left = lowered.messages.map(({ runId }) => runId).filter((id) => !running.includes(id))
    const order = await farm.claimSome(75)
    expect(byId(order.slice(0, 40))).toEqual(other.messages.map(({ runId }) => runId))
    expect(byId(order.slice(40))).toEqual(left)
    expect(await harness.sql("select 1 from runs where status <> 'running' or attempt <> 1")).toEqual([])
  })

  test('a run that is being sent during the change is sent again', async () => {
    await using farm = await prepare()
    const job = await harness.submit(3, { priority: 'low' })
    const capacity = { critical: 9, high: 9, normal: 9, low: 9 }
    const taken = await harness.store.outbox.take({ classes: [''], capacity, limit: 9, staleMs: 10_000 })
    expect(taken).toHaveLength(3)
    await change(farm.queue, job.jobId, 'critical')
    await farm.queue.add(taken)
    await harness.store.outbox.remove(taken)
    const urgent = await harness.submit(1, { priority: 'high' })
    await farm.dispatch()
    const order = await farm.claimSome(4)
    expect(byId(order.slice(0, 3))).toEqual(job.messages.map(({ runId }) => runId))
    expect(order.slice(3)).toEqual(urgent.messages.map(({ runId }) => runId))
  })
})

const finish = () => harness.store.jobs.finishPriority(() => undefined)

test('a change whose master died is finished, and runs that wait for a slot of the job have it too', async () => {
  await harness.reset()
  const { jobId } = await harness.submit(5_000, { concurrency: 2, priority: 'low' })
  const ranks = () =>
    harness.sql('select rank, ready, count(*)::int as n from outbox group by 1, 2 order by 1, 2')
  // The state after the first transaction: the job has its new priority, and no run.
  await harness.sql(
    `update jobs set priority = 'high', priority_due_at = now() - interval '1 s' where job_id = '${jobId}'`,
  )
  expect(await finish()).toMatchObject({ jobId, changed: 5_000, interrupted: true })
  expect(await finish()).toBeUndefined()
  expect(await ranks()).toEqual([
    { rank: 2, ready: false, n: 4_998 },
    { rank: 2, ready: true, n: 2 },
  ])
})

test('the masters change the priority of a job with many waiting runs after the answer, also the latest of two changes', async () => {
  await harness.reset()
  await using queue = await openQueue('redis')
  const add = (first: number, count: number, jobNo: number, owner: string) =>
    queue.add(
      Array.from({ length: count }, (_, n) => ({
        runId: first + n,
        epoch: 0,
        priority: 'low' as const,
        requirementClass: '',
        share: { jobNo, owner, weight: 1 },
      })),
    )
  await add(200_000, 200, 9_001, 'another')
  const { jobId } = await harness.submit(10_001, { priority: 'low' })
  const dispatch = async (maxQueued: number): Promise<void> => {
    const { outbox, workers } = harness.store
    const dispatcher = new Dispatcher({ outbox, workers, queue, maxQueued })
    while (await dispatcher.dispatchOnce());
  }
  await harness.join()
  await dispatch(1_000)
  const change = (priority: 'high' | 'critical') =>
    harness.store.jobs.changePriority(jobId, priority, () => undefined)
  expect(await change('high')).toEqual({ previous: 'low', changed: 10_001, later: true })
  expect(await change('critical')).toEqual({ previous: 'high', changed: 10_001, later: true })
  // Messages of the old priority are sent until its runs have the new one.
  await dispatch(1_200)
  const metrics = createLoopMetrics(createMetrics())
  const config = { worker: { leaseMs: 3_000 }, runs: { maxAttempts: 3, cancelGraceMs: 1_000 } }
  const parts = { store: harness.store, queue, config, metrics, log: silentLogger }
  expect(await finishPriorities(parts)).toBe(true)
  expect(await finishPriorities(parts)).toBe(false)
  expect(await harness.sql('select rank, sent_at, count(*)::int as n from outbox group by 1, 2')).toEqual([
    { rank: 1, sent_at: null, n: 10_001 },
  ])

  // The job waits no longer with its old priority, so another one of its owner has the whole share.
  const [job] = await harness.sql('select submitted_by as owner from jobs')
  await add(300_000, 80, 9_002, String(job?.['owner']))
  await using consumer = queue.consumer({ serves: () => true })
  const taken = await consumer.take(90, AbortSignal.timeout(30_000))
  expect(taken.filter(({ runId }) => runId >= 300_000).length).toBeGreaterThan(38)
})
