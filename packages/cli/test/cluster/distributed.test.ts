// long
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TestCluster, until } from './test-cluster.ts'
import { expectExactlyOnce, expectNoneLost, expectOvertaking } from './expectations.ts'
import { jobEnded, readJob, runsOf, submit, targets } from './jobs.ts'
import { mostAtOnce, openGate, stamped } from './traces.ts'

const START_MS = 300_000
const TEST_MS = 600_000
const LOW_RUNS = 5_000
const SLOTS = 8

let cluster: TestCluster

beforeAll(async () => {
  cluster = await TestCluster.start({ masters: 2, workers: 2, slots: SLOTS / 2 })
}, START_MS)

afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
}, START_MS)

test(
  'Two workers complete each run of a job of 1,000 targets exactly once',
  async () => {
    const hosts = targets(1_000)
    const jobId = await submit(cluster.client, { module: 'noop', targets: hosts })
    await jobEnded(cluster.client, jobId)
    const runs = await expectExactlyOnce(cluster.client, jobId, { targets: hosts, steps: ['nothing'] })
    await expectNoneLost(cluster.client, runs)
    expect(new Set(runs.map((run) => run.worker_id)).size).toBe(2)
  },
  TEST_MS,
)

test(
  'A critical run starts before 5,000 queued runs of low priority, and cancelling their job cancels all of them',
  () => expectOvertaking(cluster, SLOTS, LOW_RUNS),
  TEST_MS,
)

test(
  'A job with concurrency 3 has at most three commands running on all workers together, and reaches three',
  async () => {
    const folder = await cluster.traces()
    const hosts = targets(24, 'slow')
    const jobId = await submit(cluster.client, {
      module: 'stamp',
      targets: hosts,
      params: { folder },
      concurrency: 3,
    })
    await until('three have begun', () => stamped(folder) === 3)
    await openGate(folder)
    await jobEnded(cluster.client, jobId)
    await expectExactlyOnce(cluster.client, jobId, { targets: hosts, steps: ['stamp'] })
    expect(await mostAtOnce(folder)).toBe(3)
  },
  TEST_MS,
)

test(
  'A job that waits for its concurrency limit does not delay other jobs',
  async () => {
    const folder = await cluster.traces()
    const slow = await submit(cluster.client, {
      module: 'stamp',
      targets: targets(40, 'held'),
      params: { folder },
      concurrency: 1,
      priority: 'critical',
    })
    const hosts = targets(50, 'free')
    const quick = await submit(cluster.client, { module: 'noop', targets: hosts, priority: 'low' })
    await jobEnded(cluster.client, quick)
    await until('one has begun', () => stamped(folder) === 1)
    expect(await readJob(cluster.client, slow)).toMatchObject({ pending: 39, running: 1 })
    await cluster.client.post(`/jobs/${slow}/cancel`)
    await jobEnded(cluster.client, slow)
    expect(await mostAtOnce(folder)).toBe(1)
  },
  TEST_MS,
)

test(
  'Two masters share the workers, and each of them serves the jobs of the other',
  async () => {
    const [one, two] = cluster.masters
    if (!one || !two) throw new Error('the cluster should have two masters')
    const hosts = targets(100, 'shared')
    const jobs = await Promise.all([
      submit(one.client, { module: 'noop', targets: hosts }),
      submit(two.client, { module: 'noop', targets: hosts }),
    ])
    for (const jobId of jobs) {
      await jobEnded(two.client, jobId)
      await expectExactlyOnce(one.client, jobId, { targets: hosts, steps: ['nothing'] })
    }
  },
  TEST_MS,
)

test(
  'An artifact of a worker can be read from a master that did not accept the job',
  async () => {
    const [one, two] = cluster.masters
    if (!one || !two) throw new Error('the cluster should have two masters')
    const jobId = await submit(one.client, { module: 'report', targets: ['reported.test'] })
    await jobEnded(one.client, jobId)
    const [run] = await runsOf(two.client, jobId)
    if (!run) throw new Error('the job has no run')
    const { data } = await two.client.get<{ data: { id: string; name: string; artifact_type: string }[] }>(
      `/runs/${run.run_uuid}/artifacts`,
    )
    const report = data.find(({ artifact_type }) => artifact_type === 'report')
    expect(report?.name).toBe('report')
    expect(await two.client.text(`/runs/${run.id}/artifacts/${report?.id}/content`)).toBe(
      'found on reported.test\n',
    )
  },
  TEST_MS,
)
