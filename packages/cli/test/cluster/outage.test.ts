// long
import { jest, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { setTimeout as delay } from 'node:timers/promises'
import { TestCluster } from './test-cluster.ts'
import { expectExactlyOnce, expectNoneLost } from './expectations.ts'
import { jobEnded, someCompleted, submit, targets } from './jobs.ts'

jest.setTimeout(600_000)

const STEPS = ['rest', 'say']
const HOSTS = targets(200)
/** Longer than a busy machine delays a heartbeat: no worker must be considered lost here. */
const LEASE_MS = 8_000
/** The duration of an outage is what is tested, so these waits are fixed. */
const REDIS_AWAY_MS = 3_000
const POSTGRES_AWAY_MS = LEASE_MS + 2_000

const cluster = forAllTests(() => TestCluster.start({ workers: 2, slots: 4, leaseMs: LEASE_MS }))

const startJob = async (): Promise<string> => {
  const jobId = await submit(cluster.client, { module: 'brief', targets: HOSTS })
  await someCompleted(cluster.client, jobId, 50)
  return jobId
}

const expectUntouched = async (jobId: string): Promise<void> => {
  await jobEnded(cluster.client, jobId)
  const runs = await expectExactlyOnce(cluster.client, jobId, { targets: HOSTS, steps: STEPS })
  await expectNoneLost(cluster.client, runs)
}

test('A Redis that is killed and restarted empty loses and repeats no run', async () => {
  const { redis } = cluster
  if (redis === undefined) throw new Error('the cluster should have a Redis')
  const jobId = await startJob()
  await redis.kill()
  await delay(REDIS_AWAY_MS)
  await redis.start()
  await expectUntouched(jobId)
})

test('A Postgres outage that is longer than a lease loses and repeats no run, and takes none from its worker', async () => {
  const jobId = await startJob()
  await cluster.postgres.stop()
  await delay(POSTGRES_AWAY_MS)
  await cluster.postgres.restart()
  await expectUntouched(jobId)
})
