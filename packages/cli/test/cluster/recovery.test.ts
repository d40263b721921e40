// long
import { expect, jest, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { TestCluster, LEASE_MS, until } from './test-cluster.ts'
import { expectExactlyOnce, expectNoneLost } from './expectations.ts'
import { jobEnded, someCompleted, submit, targets } from './jobs.ts'
import { begun, hold, openGate } from './traces.ts'

jest.setTimeout(600_000)

const STEPS = ['rest', 'say']
const SLOTS = 8
/** Targets in the middle of the job, one for each slot of both workers: they wait until the gate is open. */
const HELD = targets(SLOTS, 'held')
const HOSTS = [...targets(30), ...HELD, ...targets(30, 'last')]

const cluster = forAllTests(() => TestCluster.start({ workers: 2, slots: SLOTS / 2 }))

/** Starts a job and waits until its middle is reached: each slot is held until the gate in `folder` is open. */
const startedJob = async (): Promise<{ jobId: string; folder: string }> => {
  const folder = await cluster.traces()
  await hold(folder, HELD)
  const jobId = await submit(cluster.client, { module: 'held', targets: HOSTS, params: { folder } })
  await until('all slots are held', () => begun(folder).length === SLOTS)
  return { jobId, folder }
}

test('Killing the only master in the middle of a job stops no run, and a new master takes over', async () => {
  const [master] = cluster.masters
  if (!master) throw new Error('the cluster should have a master')
  const { jobId, folder } = await startedJob()
  await master.program.kill()
  await openGate(folder)
  await cluster.startMaster(master.port)
  await jobEnded(cluster.client, jobId)
  const runs = await expectExactlyOnce(cluster.client, jobId, { targets: HOSTS, steps: STEPS })
  await expectNoneLost(cluster.client, runs)
})

test('Killing one of two masters loses and repeats no run of the jobs of either', async () => {
  const second = await cluster.startMaster()
  const jobs = await Promise.all([
    submit(cluster.client, { module: 'brief', targets: HOSTS }),
    submit(second.client, { module: 'brief', targets: HOSTS }),
  ])
  await someCompleted(cluster.client, jobs[0], 20)
  await second.program.kill()
  for (const jobId of jobs) {
    await jobEnded(cluster.client, jobId)
    await expectExactlyOnce(cluster.client, jobId, { targets: HOSTS, steps: STEPS })
  }
})

test('Killing a worker in the middle of a job loses and repeats no completed run', async () => {
  await cluster.workers[0]?.stop()
  const victim = await cluster.startWorker('victim', { SCANFARM_WORKER_LEASE_MS: String(LEASE_MS) })
  const { jobId, folder } = await startedJob()
  await victim.kill()
  await openGate(folder)
  await jobEnded(cluster.client, jobId)
  const runs = await expectExactlyOnce(cluster.client, jobId, { targets: HOSTS, steps: STEPS })
  expect(runs.filter((run) => run.attempt > 1).length).toBeGreaterThanOrEqual(SLOTS / 2)
})
