import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Farm, until } from './farm.ts'
import { expectExactlyOnce } from './expect-exactly-once.ts'
import { expectOvertaking } from './expect-overtaking.ts'
import { jobEnded, readJob, runsOf, submit, targets } from './jobs.ts'
import { mostAtOnce, openGate, stamped } from './traces.ts'

const START_MS = 300_000
const TEST_MS = 600_000
const LOW_RUNS = 5_000
const SLOTS = 8

let farm: Farm

beforeAll(async () => {
  farm = await Farm.start({ masters: 2, workers: 2, slots: SLOTS / 2 })
}, START_MS)

afterAll(async () => {
  await farm[Symbol.asyncDispose]()
}, START_MS)

test(
  'a job of 1,000 targets over two workers completes every run exactly once',
  async () => {
    const hosts = targets(1_000)
    const jobId = await submit(farm.client, { module: 'noop', targets: hosts })
    await jobEnded(farm.client, jobId)
    const runs = await expectExactlyOnce(farm.client, jobId, { targets: hosts, steps: ['nothing'] })
    expect(runs.filter((run) => run.attempt !== 1)).toEqual([])
    expect(new Set(runs.map((run) => run.worker_id)).size).toBe(2)
  },
  TEST_MS,
)

test(
  'a critical run submitted behind 5,000 low ones starts next, and cancelling the job ends the rest',
  () => expectOvertaking(farm, SLOTS, LOW_RUNS),
  TEST_MS,
)

test(
  'a job of concurrency 3 never has more than three commands running on the whole farm, and reaches three',
  async () => {
    const folder = await farm.traces()
    const hosts = targets(24, 'slow')
    const jobId = await submit(farm.client, {
      module: 'stamp',
      targets: hosts,
      params: { folder },
      concurrency: 3,
    })
    await until('three have begun', () => stamped(folder) === 3)
    await openGate(folder)
    await jobEnded(farm.client, jobId)
    await expectExactlyOnce(farm.client, jobId, { targets: hosts, steps: ['stamp'] })
    expect(await mostAtOnce(folder)).toBe(3)
  },
  TEST_MS,
)

test(
  'a throttled job does not hold back another one',
  async () => {
    const folder = await farm.traces()
    const slow = await submit(farm.client, {
      module: 'stamp',
      targets: targets(40, 'held'),
      params: { folder },
      concurrency: 1,
      priority: 'critical',
    })
    const hosts = targets(50, 'free')
    const quick = await submit(farm.client, { module: 'noop', targets: hosts, priority: 'low' })
    await jobEnded(farm.client, quick)
    await until('one has begun', () => stamped(folder) === 1)
    expect(await readJob(farm.client, slow)).toMatchObject({ pending: 39, running: 1 })
    await farm.client.post(`/jobs/${slow}/cancel`)
    await jobEnded(farm.client, slow)
    expect(await mostAtOnce(folder)).toBe(1)
  },
  TEST_MS,
)

test(
  'two masters feed the same workers, and any of them serves what the other one started',
  async () => {
    const [one, two] = farm.masters
    if (!one || !two) throw new Error('the farm should have two masters')
    const hosts = targets(300, 'shared')
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
  'an artifact made on a worker is read through another master than the one that took the job',
  async () => {
    const [one, two] = farm.masters
    if (!one || !two) throw new Error('the farm should have two masters')
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
