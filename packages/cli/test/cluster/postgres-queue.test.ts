import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TestCluster, until } from './test-cluster.ts'
import { expectExactlyOnce, expectOvertaking } from './expectations.ts'
import { jobEnded, readJob, readRun, submit, targets } from './jobs.ts'
import { lives, pidsOf } from './traces.ts'

const START_MS = 300_000
const TEST_MS = 600_000
const SLOTS = 8
const LOW_RUNS = 100

let cluster: TestCluster

beforeAll(async () => {
  cluster = await TestCluster.start({
    queue: 'postgres',
    workers: 2,
    slots: SLOTS / 2,
    env: { SCANFARM_RUNS_CANCEL_GRACE_MS: '200' },
  })
}, START_MS)

afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
}, START_MS)

test(
  'On the Postgres queue, two workers complete each run of a job of 500 targets exactly once',
  async () => {
    const hosts = targets(500)
    const jobId = await submit(cluster.client, { module: 'noop', targets: hosts })
    await jobEnded(cluster.client, jobId)
    const runs = await expectExactlyOnce(cluster.client, jobId, { targets: hosts, steps: ['nothing'] })
    expect(new Set(runs.map((run) => run.worker_id)).size).toBe(2)
  },
  TEST_MS,
)

test(
  'On the Postgres queue, a critical run starts before queued runs of low priority',
  () => expectOvertaking(cluster, SLOTS, LOW_RUNS),
  TEST_MS,
)

test(
  'On the Postgres queue, cancelling a run kills its processes on the worker at once',
  async () => {
    const folder = await cluster.traces()
    const jobId = await submit(cluster.client, { module: 'tree', targets: ['tree.test'], params: { folder } })
    await until('the tree has grown', () => pidsOf(folder, 'tree.test').length === 3)
    const [run] = (await readJob(cluster.client, jobId)).runs
    const answer = await cluster.client.delete<{ kill_method?: string }>(`/runs/${run?.run_uuid}`)
    expect(answer.kill_method).toBe('registry')
    expect(pidsOf(folder, 'tree.test').filter(lives)).toEqual([])
    expect((await readRun(cluster.client, run?.run_uuid ?? '')).status).toBe('cancelled')
  },
  TEST_MS,
)
