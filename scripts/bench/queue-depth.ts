import { PrivateRedis, type TestCluster } from '@scanfarm/cli/testing'
import { openRunQueue, type QueueMessage, type RunQueue } from '@scanfarm/queue'
import { openStore, type Store } from '@scanfarm/store'
import type { Harness } from './harness.ts'
import { Database, hosts, post, startCluster } from './cluster.ts'
import { atMost, type Figure } from './figure.ts'
import { silent } from './submit.ts'
import { percentile, timeMs } from './timing.ts'

const BATCH = 1_000
const TRIES = 9
const ROOM = { critical: BATCH, high: BATCH, normal: BATCH, low: BATCH }
const STALE_MS = 60_000

/** (e) The cost of a run in the queue and in the outbox behind few and behind many other runs. */
export async function* queueDepth(harness: Harness): AsyncGenerator<Figure> {
  const deep = harness.quick ? 100_000 : 1_000_000
  yield* await messageCost(harness, deep)
  yield* await outboxCost(harness, deep)
}

async function messageCost(harness: Harness, deep: number): Promise<Figure[]> {
  await using redis = harness.use(await PrivateRedis.start())
  await using queue = await openRunQueue(
    { kind: 'redis', url: redis.url },
    { farmId: 'bench', role: 'master', log: silent },
  )
  const empty = await usedBytes(redis)
  await fill(harness, queue, { from: 0, to: 1_000 })
  const shallowMs = await cycleMs(queue)
  await fill(harness, queue, { from: 1_000, to: deep })
  const perMessage = ((await usedBytes(redis)) - empty) / deep
  const deepMs = await cycleMs(queue)
  return [
    {
      part: 'e',
      name: `add, take and acknowledge 1,000 messages behind ${deep.toLocaleString('en')}`,
      value: deepMs,
      unit: 'ms',
      limit: { what: 'behind 1,000', value: shallowMs },
      target: atMost(1.2, 'ratio'),
    },
    {
      part: 'e',
      name: 'Redis memory of a waiting message',
      value: perMessage,
      unit: 'B',
      target: atMost(1_024),
    },
  ]
}

async function usedBytes(redis: PrivateRedis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.command('INFO memory'))?.[1])
}

const message = (runId: number, priority: QueueMessage['priority']): QueueMessage => ({
  runId,
  epoch: 0,
  requirementClass: '',
  priority,
})

async function fill(
  harness: Harness,
  queue: RunQueue,
  { from, to }: { from: number; to: number },
): Promise<void> {
  for (let at = from; at < to; at += BATCH) {
    harness.progress(at, to, 'messages waiting')
    await queue.add(Array.from({ length: BATCH }, (_, index) => message(at + index + 1, 'normal')))
  }
  harness.progress(to, to, '')
}

/** Sends more urgent messages through a queue whose depth stays the same. */
async function cycleMs(queue: RunQueue): Promise<number> {
  await using consumer = queue.consumer({ serves: () => true })
  const { signal } = new AbortController()
  const times: number[] = []
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const first = 10_000_000 + attempt * BATCH
    times.push(
      await timeMs(async () => {
        await queue.add(Array.from({ length: BATCH }, (_, index) => message(first + index, 'high')))
        for (let taken = 0; taken < BATCH;) {
          const deliveries = await consumer.take(16, signal)
          await Promise.all(deliveries.map((delivery) => delivery.ack()))
          taken += deliveries.length
        }
      }),
    )
  }
  return percentile(times, 50)
}

async function outboxCost(harness: Harness, deep: number): Promise<Figure[]> {
  await using cluster = await startCluster(harness, { workers: 0 })
  await using store = await openStore({
    url: cluster.postgres.url,
    applicationName: 'scanfarm bench',
    poolSize: 2,
  })
  await using db = await Database.open(cluster.postgres.url)
  await submitWaiting(cluster, 4 * BATCH)
  const shallow = await takeMs(store)
  await fillOutbox(harness, db, deep)
  return [
    {
      part: 'e',
      name: `take and remove 1,000 outbox rows of ${deep.toLocaleString('en')}`,
      value: await takeMs(store),
      unit: 'ms',
      limit: { what: 'of a few thousand', value: shallow },
      target: atMost(1.2, 'ratio'),
    },
  ]
}

const submitWaiting = (cluster: TestCluster, count: number) =>
  post(cluster, { module: 'noop', targets: hosts(count) })

/** Another job like the existing one, with waiting runs. */
async function fillOutbox(harness: Harness, db: Database, count: number): Promise<void> {
  const CHUNK = 50_000
  for (let done = 0; done < count; done += CHUNK) {
    harness.progress(done, count, 'runs waiting')
    await db.rows(WAITING, [CHUNK])
  }
  harness.progress(count, count, '')
  await db.rows('vacuum analyze runs')
  await db.rows('vacuum analyze outbox')
}

const WAITING = `
with job as (select * from jobs order by id limit 1),
created as (
  insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace)
  select gen_random_uuid(), job.id, job.workflow_name, job.run_mode, 'queued', 'host-' || n, 'host-' || n
  from job, generate_series(1, $1::int) n returning id, job_no
)
insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready)
select id, 0, job_no, 'distributed', 3, '', true from created`

async function takeMs(store: Store): Promise<number> {
  const times: number[] = []
  for (let attempt = 0; attempt < 3; attempt++) {
    times.push(
      await timeMs(async () => {
        const rows = await store.outbox.take({ classes: [''], room: ROOM, limit: BATCH, staleMs: STALE_MS })
        if (rows.length !== BATCH)
          throw new Error(`the outbox returned ${rows.length} rows, expected ${BATCH}`)
        await store.outbox.remove(rows)
      }),
    )
  }
  return percentile(times, 50)
}
