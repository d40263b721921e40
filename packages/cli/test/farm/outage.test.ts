import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as delay } from 'node:timers/promises'
import { Farm, type PrivateRedis } from './farm.ts'
import { expectExactlyOnce } from './expect-exactly-once.ts'
import { jobEnded, someCompleted, submit, targets } from './jobs.ts'

const START_MS = 300_000
const TEST_MS = 600_000
const STEPS = ['rest', 'say']
const HOSTS = targets(200)
/** Longer than a busy machine keeps a worker from telling that it lives: nobody is to be taken for lost here. */
const LEASE_MS = 8_000
/** How long a service is away: the length of the outage is what is tested, so these waits are of fixed length. */
const REDIS_AWAY_MS = 3_000
const POSTGRES_AWAY_MS = LEASE_MS + 2_000

let farm: Farm
let redis: PrivateRedis

beforeAll(async () => {
  farm = await Farm.start({ workers: 2, slots: 4, leaseMs: LEASE_MS })
  if (!farm.redis) throw new Error('the farm should have a Redis')
  redis = farm.redis
}, START_MS)

afterAll(async () => {
  await farm[Symbol.asyncDispose]()
}, START_MS)

const startJob = async (): Promise<string> => {
  const jobId = await submit(farm.client, { module: 'brief', targets: HOSTS })
  await someCompleted(farm.client, jobId, 50)
  return jobId
}

const expectUntouched = async (jobId: string): Promise<void> => {
  await jobEnded(farm.client, jobId)
  const runs = await expectExactlyOnce(farm.client, jobId, { targets: HOSTS, steps: STEPS })
  expect(runs.filter((run) => run.attempt !== 1)).toEqual([])
}

test(
  'flushing Redis in the middle of a job loses and doubles nothing',
  async () => {
    const jobId = await startJob()
    expect(await redis.command('FLUSHALL')).toBe('+OK\r\n')
    await expectUntouched(jobId)
  },
  TEST_MS,
)

test(
  'a Redis that is killed and comes back empty loses and doubles nothing',
  async () => {
    const jobId = await startJob()
    await redis.kill()
    await delay(REDIS_AWAY_MS)
    await redis.start()
    await expectUntouched(jobId)
  },
  TEST_MS,
)

test(
  'Postgres may be away for longer than a lease: nothing is lost, doubled or taken from a worker',
  async () => {
    const jobId = await startJob()
    await farm.postgres.stop()
    await delay(POSTGRES_AWAY_MS)
    await farm.postgres.restart()
    await expectUntouched(jobId)
  },
  TEST_MS,
)
