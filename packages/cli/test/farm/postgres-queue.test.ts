import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Farm, until } from './farm.ts'
import { expectExactlyOnce } from './expect-exactly-once.ts'
import { expectOvertaking } from './expect-overtaking.ts'
import { jobEnded, readJob, readRun, submit, targets } from './jobs.ts'
import { lives, pidsOf } from './traces.ts'

const START_MS = 300_000
const TEST_MS = 600_000
const SLOTS = 8
const LOW_RUNS = 100
/** The server waits so long for the worker: an answer that comes sooner is the worker's, sent as soon as it was asked. */
const ANSWER_MS = 5_000

let farm: Farm

beforeAll(async () => {
  farm = await Farm.start({
    queue: 'postgres',
    workers: 2,
    slots: SLOTS / 2,
    env: { SCANFARM_RUNS_CANCEL_GRACE_MS: '200' },
  })
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
  () => expectOvertaking(farm, SLOTS, LOW_RUNS),
  TEST_MS,
)

test(
  'on the Postgres queue a cancel reaches the worker and its processes at once',
  async () => {
    const folder = await farm.traces()
    const jobId = await submit(farm.client, { module: 'tree', targets: ['tree.test'], params: { folder } })
    await until('the tree has grown', () => pidsOf(folder, 'tree.test').length === 3)
    const [run] = (await readJob(farm.client, jobId)).runs
    const asked = performance.now()
    await farm.client.delete(`/runs/${run?.run_uuid}`)
    expect(performance.now() - asked).toBeLessThan(ANSWER_MS)
    expect(pidsOf(folder, 'tree.test').filter(lives)).toEqual([])
    expect((await readRun(farm.client, run?.run_uuid ?? '')).status).toBe('cancelled')
  },
  TEST_MS,
)
