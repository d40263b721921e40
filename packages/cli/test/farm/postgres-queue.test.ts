import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Farm, until } from './farm.ts'
import { expectExactlyOnce } from './expect-exactly-once.ts'
import { jobEnded, readJob, readRun, submit, targets } from './jobs.ts'
import { lives, pidsOf } from './traces.ts'

const START_MS = 120_000
const TEST_MS = 90_000

let farm: Farm

beforeAll(async () => {
  farm = await Farm.start({ queue: 'postgres', workers: 2, slots: 4 })
}, START_MS)

afterAll(async () => {
  await farm[Symbol.asyncDispose]()
}, START_MS)

test(
  'on the Postgres queue a job of 500 targets over two workers completes every run exactly once',
  async () => {
    const hosts = targets(500)
    const jobId = await submit(farm.client, { module: 'noop', targets: hosts })
    await jobEnded(farm.client, jobId)
    const runs = await expectExactlyOnce(farm.client, jobId, { targets: hosts, steps: ['nothing'] })
    expect(new Set(runs.map((run) => run.worker_id)).size).toBe(2)
  },
  TEST_MS,
)

test(
  'on the Postgres queue a critical run overtakes low ones',
  async () => {
    const low = await submit(farm.client, { module: 'brief', targets: targets(300, 'low'), priority: 'low' })
    await until('low runs have started', async () => (await readJob(farm.client, low)).completed > 8)
    const critical = await submit(farm.client, {
      module: 'noop',
      targets: ['first.test'],
      priority: 'critical',
    })
    await jobEnded(farm.client, critical)
    expect((await readJob(farm.client, low)).pending).toBeGreaterThan(200)
    await farm.client.post(`/jobs/${low}/cancel`)
    await jobEnded(farm.client, low)
  },
  TEST_MS,
)

test(
  'on the Postgres queue a cancel reaches the worker and its processes within two seconds',
  async () => {
    const folder = await farm.traces()
    const jobId = await submit(farm.client, { module: 'tree', targets: ['tree.test'], params: { folder } })
    await until('the tree has grown', () => pidsOf(folder, 'tree.test').length === 3)
    const [run] = (await readJob(farm.client, jobId)).runs
    const asked = performance.now()
    await farm.client.delete(`/runs/${run?.run_uuid}`)
    expect(performance.now() - asked).toBeLessThan(2_000)
    expect(pidsOf(folder, 'tree.test').filter(lives)).toEqual([])
    expect((await readRun(farm.client, run?.run_uuid ?? '')).status).toBe('cancelled')
  },
  TEST_MS,
)
