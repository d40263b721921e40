import { until, type TestCluster } from '@scanfarm/cli/testing'
import { openRunQueue, type QueueLog, type RunQueue } from '@scanfarm/queue'
import type { Bench } from './bench.ts'
import { Database, hosts, post, startFarm } from './farms.ts'
import { atMost, type Figure } from './figure.ts'
import { addBulkMs } from './limits/add-bulk.ts'
import { insertMs } from './limits/insert.ts'
import { percentile } from './timing.ts'

const QUEUED_MS = 60_000
const PRIORITIES = ['high', 'normal', 'low'] as const
type Tried = (typeof PRIORITIES)[number]

export const silent: QueueLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

/** (b) How long a request with many targets takes, and until all of its runs are in the queue. */
export async function* submit(bench: Bench): AsyncGenerator<Figure> {
  await using farm = await startFarm(bench, { workers: 1, slots: 1 })
  await using queue = await openQueue(farm)
  await keepBusy(farm)
  for (const count of [1_000, 10_000]) {
    bench.note(`POST /runs with ${count} targets`)
    const { answered, queued } = await submitTimes(farm, queue, count)
    const insert = await insertMs(bench, farm.postgres.url, count)
    const bulk = await addBulkMs(bench, farm.redis?.url ?? '', count)
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
      target: atMost(2, 'ratio'),
    }
  }
}

export async function openQueue(farm: TestCluster): Promise<RunQueue> {
  await using db = await Database.open(farm.postgres.url)
  const { farm_id } = await db.one<{ farm_id: string }>('select farm_id from farm')
  return await openRunQueue(
    { kind: 'redis', url: farm.redis?.url ?? '' },
    { farmId: farm_id, role: 'master', log: silent },
  )
}

/** Fills every slot of the farm, so that later runs stay in the queue. */
export async function keepBusy(farm: TestCluster): Promise<void> {
  const folder = await farm.traces()
  const rows = await farm.workerRows()
  const slots = rows.reduce((sum, row) => sum + row.slots, 0)
  await post(farm, {
    module: 'gate',
    targets: hosts(slots, 'busy'),
    params: { folder },
    priority: 'critical',
  })
  await until('all slots are busy', async () => {
    const busy = (await farm.client.get<{ pagination: { total: number } }>('/runs?status=running&limit=1'))
      .pagination
    return busy.total === slots
  })
}

/** Median of three, each with its own priority, so that its messages can be distinguished from earlier ones. */
async function submitTimes(
  farm: TestCluster,
  queue: RunQueue,
  count: number,
): Promise<{ answered: number; queued: number }> {
  const times = []
  for (const priority of PRIORITIES) times.push(await submitOnce(farm, queue, { count, priority }))
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
  farm: TestCluster,
  queue: RunQueue,
  { count, priority }: { count: number; priority: Tried },
): Promise<{ answered: number; queued: number }> {
  const before = (await queue.waiting(''))[priority]
  const targets = hosts(count)
  const began = performance.now()
  const { job_id } = await post(farm, { module: 'noop', targets, priority })
  const answered = performance.now() - began
  await until('all are queued', async () => (await queue.waiting(''))[priority] >= before + count, QUEUED_MS)
  const queued = performance.now() - began
  await farm.client.post(`/jobs/${job_id}/cancel`)
  return { answered, queued }
}
