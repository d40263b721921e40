import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TestCluster } from './test-cluster.ts'
import { expectExactlyOnce, expectOvertaking } from './expectations.ts'
import { jobEnded, runsOf, submit, targets } from './jobs.ts'

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
    env: { SCANFARM_WORKFLOWS_STRICT_PARAMS: 'true' },
  })
}, START_MS)

afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
}, START_MS)

test(
  'On the Postgres queue, two workers complete each run of a job of 200 targets exactly once',
  async () => {
    const hosts = targets(200)
    const jobId = await submit(cluster.client, { module: 'noop', targets: hosts })
    await jobEnded(cluster.client, jobId)
    await expectExactlyOnce(cluster.client, jobId, { targets: hosts, steps: ['nothing'] })
  },
  TEST_MS,
)

test(
  'On the Postgres queue, a critical run starts before queued runs of low priority',
  () => expectOvertaking(cluster, SLOTS, LOW_RUNS),
  TEST_MS,
)

test(
  'With workflows.strict_params, workers take a param without a type for one word',
  async () => {
    const jobId = await submit(cluster.client, {
      module: 'words',
      targets: ['strict.test'],
      params: { text: 'a b' },
    })
    await jobEnded(cluster.client, jobId)
    const [run] = await runsOf(cluster.client, jobId)
    const { data } = await cluster.client.get<{ data: { output: string }[] }>(`/runs/${run?.id}/steps`)
    expect(data).toMatchObject([{ output: '[a b]' }])
  },
  TEST_MS,
)
