import { until, type TestCluster } from '@scanfarm/cli/testing'
import { openRunQueue, type QueueLog, type RunQueue } from '@scanfarm/queue'
import type { Harness } from './harness.ts'
import { Database, hosts, post, startCluster } from './cluster.ts'
import { atMost, type Figure } from './figure.ts'
import { addBulkMs } from './limits/add-bulk.ts'
import { insertMs } from './limits/insert.ts'
import { percentile } from './timing.ts'

const QUEUED_MS = 60_000
const PRIORITIES = ['high', 'normal', 'low'] as const
type TestedPriority = (typeof PRIORITIES)[number]

const silent: QueueLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

/** (b) The time of a request with many targets, and the time until all its runs are in the queue. */
export async function* submit(harness: Harness): AsyncGenerator<Figure> {
  await using cluster = await startCluster(harness, { workers: 1, slots: 1 })
  await using queue = await openQueue(cluster)
  await keepBusy(cluster)
  for (const count of [1_000, 10_000]) {
    harness.note(`POST /runs with ${count} targets`)
    const { answered, queued } = await submitTimes(cluster, queue, count)
    const insert = await insertMs(harness, cluster.postgres.url, count)
    const bulk = await addBulkMs(harness, cluster.redis?.url ?? '', count)
    const targets = `${count.toLocaleString('en')} targets`
    yield {
      part: 'b',
      name: `POST of ${targets} until 202`,
      value: answered,
      unit: 'ms',
      limit: { what: 'unnest insert', value: insert },
      target: count === 1_000 ? atMost(40) : atMost(2, 'ratio'),
    }
    yield {
      part: 'b',
      name: `POST of ${targets} until all are queued`,
      value: queued,
      unit: 'ms',
      limit: { what: 'insert + addBulk', value: insert + bulk },
      target: atMost(count === 1_000 ? 2 : 1.4, 'ratio'),
    }
  }
}

async function openQueue(cluster: TestCluster): Promise<RunQueue> {
  await using db = await Database.open(cluster.postgres.url)
  const { farm_id } = await db.one<{ farm_id: string }>('select farm_id from farm')
  return await openRunQueue(
    { kind: 'redis', url: cluster.redis?.url ?? '' },
    { farmId: farm_id, role: 'master', log: silent },
  )
}

/** Fills every slot of the farm, so that later runs stay in the queue. */
export async function keepBusy(cluster: TestCluster): Promise<void> {
  const folder = await cluster.traces()
  const rows = await cluster.workerRows()
  const slots = rows.reduce((sum, row) => sum + row.slots, 0)
  await post(cluster, {
    module: 'gate',
    targets: hosts(slots, 'busy'),
    params: { folder },
    priority: 'critical',
  })
  await until('all slots are busy', async () => (await totalOf(cluster, 'status=running')) === slots)
}

const totalOf = async (cluster: TestCluster, filter: string): Promise<number> =>
  (await cluster.client.get<{ pagination: { total: number } }>(`/runs?${filter}&limit=1`)).pagination.total

/** The median of three submissions, each with its own priority, so that its messages can be counted. */
async function submitTimes(
  cluster: TestCluster,
  queue: RunQueue,
  count: number,
): Promise<{ answered: number; queued: number }> {
  const times = []
  for (const priority of PRIORITIES) times.push(await submitOnce(cluster, queue, { count, priority }))
  return {
    answered: percentile(
      times.map(({ answered }) => answered),
      50,
    ),
    queued: percentile(
      times.map(({ queued }) => queued),
      50,
    ),
  }
}

async function submitOnce(
  cluster: TestCluster,
  queue: RunQueue,
  { count, priority }: { count: number; priority: TestedPriority },
): Promise<{ answered: number; queued: number }> {
  const before = (await queue.waiting(''))[priority]
  const targets = hosts(count)
  const began = performance.now()
  const { job_id } = await post(cluster, { module: 'noop', targets, priority })
  const answered = performance.now() - began
  await until('all are queued', async () => (await queue.waiting(''))[priority] >= before + count, QUEUED_MS)
  const queued = performance.now() - began
  await cluster.client.post(`/jobs/${job_id}/cancel`)
  // The next submission would compete with the cancel.
  await until(
    'all are cancelled',
    async () => (await totalOf(cluster, `job_id=${job_id}&status=queued`)) === 0,
    QUEUED_MS,
  )
  return { answered, queued }
}
