// long
import { afterAll, expect, test } from '@jest/globals'
import { TestCluster, LEASE_MS, until, type Program } from './test-cluster.ts'
import { expectExactlyOnce, expectNoneLost } from './expectations.ts'
import { jobEnded, runsOf, someCompleted, submit, targets } from './jobs.ts'
import { begun, hold, openGate } from './traces.ts'

const START_MS = 300_000
const TEST_MS = 600_000
const STEPS = ['rest', 'say']
const SLOTS = 8
/** Targets in the middle of the job, one for each slot of both workers: they wait until the gate is open. */
const HELD = targets(SLOTS, 'held')
const HOSTS = [...targets(30), ...HELD, ...targets(30, 'last')]

/** Runs its tests one after the other on one cluster. Tests on different clusters run at the same time. */
const onCluster = (leaseMs?: number) => {
  let cluster: TestCluster | undefined
  let before = Promise.resolve()
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]()
  }, START_MS)
  return (work: (cluster: TestCluster) => Promise<void>) => (): Promise<void> => {
    const own = before.then(async () => {
      cluster ??= await TestCluster.start({ workers: 0, slots: SLOTS / 2, leaseMs })
      await work(cluster)
    })
    before = own.catch(() => undefined)
    return own
  }
}
const withShortLease = onCluster(LEASE_MS)
const withUsualLease = onCluster()

/** The workers that `twoWorkers` has started. */
const alike = new Set<Program>()

/** Leaves exactly two workers running: those of earlier tests that still run, and new ones for the missing. */
const twoWorkers = async (cluster: TestCluster): Promise<[Program, Program]> => {
  const running = cluster.workers.filter((worker) => worker.running)
  await Promise.all(running.filter((worker) => !alike.has(worker)).map((worker) => worker.stop()))
  const kept = running.filter((worker) => alike.has(worker))
  const names = ['a', 'b'].slice(kept.length).map((name) => `worker-${cluster.workers.length + 1}${name}`)
  const [first, second] = [...kept, ...(await Promise.all(names.map((name) => cluster.startWorker(name))))]
  if (first === undefined || second === undefined) throw new Error('the cluster has no two workers')
  for (const worker of [first, second]) alike.add(worker)
  return [first, second]
}

/** Starts a job and waits until its middle is reached: each slot is held until the gate in `folder` is open. */
const startedJob = async (cluster: TestCluster): Promise<{ jobId: string; folder: string }> => {
  const folder = await cluster.traces()
  await hold(folder, HELD)
  const jobId = await submit(cluster.client, { module: 'held', targets: HOSTS, params: { folder } })
  await until('all slots are held', () => begun(folder).length === SLOTS)
  return { jobId, folder }
}

test.concurrent(
  'Killing a worker in the middle of a job loses and repeats no completed run',
  withShortLease(async (cluster) => {
    const [victim] = await twoWorkers(cluster)
    const { jobId, folder } = await startedJob(cluster)
    await victim.kill()
    await openGate(folder)
    await jobEnded(cluster.client, jobId)
    const runs = await expectExactlyOnce(cluster.client, jobId, { targets: HOSTS, steps: STEPS })
    expect(runs.filter((run) => run.attempt > 1).length).toBeGreaterThanOrEqual(SLOTS / 2)
  }),
  TEST_MS,
)

test.concurrent(
  'A worker that is frozen for longer than its lease changes no runs when it resumes, and takes new ones',
  withShortLease(async (cluster) => {
    const [frozen, other] = await twoWorkers(cluster)
    const { jobId, folder } = await startedJob(cluster)
    frozen.signal('SIGSTOP')
    await openGate(folder)
    await jobEnded(cluster.client, jobId)
    const before = await expectExactlyOnce(cluster.client, jobId, { targets: HOSTS, steps: STEPS })
    expect(before.filter((run) => run.attempt > 1).length).toBeGreaterThanOrEqual(SLOTS / 2)

    frozen.signal('SIGCONT')
    await until('the worker is back', async () =>
      (await cluster.workerRows()).some(({ name, status }) => name === frozen.name && status !== 'lost'),
    )
    await other.stop()
    const more = targets(20, 'later')
    const later = await submit(cluster.client, { module: 'brief', targets: more })
    await jobEnded(cluster.client, later)
    await expectExactlyOnce(cluster.client, later, { targets: more, steps: STEPS })
    const after = await expectExactlyOnce(cluster.client, jobId, { targets: HOSTS, steps: STEPS })
    expect(after).toEqual(before)
  }),
  TEST_MS,
)

test.concurrent(
  'Killing the only master in the middle of a job stops no run, and a new master takes over',
  withUsualLease(async (cluster) => {
    await twoWorkers(cluster)
    const master = cluster.masters.find(({ program }) => program.running)
    if (!master) throw new Error('the cluster should have a master')
    const { jobId, folder } = await startedJob(cluster)
    await master.program.kill()
    await openGate(folder)
    await cluster.startMaster(master.port)
    await jobEnded(cluster.client, jobId)
    const runs = await expectExactlyOnce(cluster.client, jobId, { targets: HOSTS, steps: STEPS })
    await expectNoneLost(cluster.client, runs)
  }),
  TEST_MS,
)

test.concurrent(
  'Killing one of two masters loses and repeats no run of the jobs of either',
  withUsualLease(async (cluster) => {
    await twoWorkers(cluster)
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
  }),
  TEST_MS,
)

test.concurrent(
  'A worker that drains returns its unfinished runs, and they are not counted as crashes',
  withUsualLease(async (cluster) => {
    const [stopping] = await twoWorkers(cluster)
    const folder = await cluster.traces()
    const held = targets(8, 'held')
    const jobId = await submit(cluster.client, { module: 'gate', targets: held, params: { folder } })
    await until('all slots are busy', () => begun(folder).length === held.length)
    const before = await runsOf(cluster.client, jobId)
    const stoppingId = (await cluster.workerRows()).find(({ name }) => name === stopping.name)?.id
    await cluster.startWorker('large-worker', { SCANFARM_WORKER_SLOTS: '8' })
    expect(await stopping.stop()).toEqual({ code: 0, signal: null })
    await until('its runs have begun elsewhere', () => begun(folder).length === held.length + 4)
    await openGate(folder)
    await jobEnded(cluster.client, jobId)
    const runs = await expectExactlyOnce(cluster.client, jobId, { targets: held, steps: ['wait'] })
    const isReturned = before.map((run) => run.worker_id === stoppingId)
    expect(isReturned.filter(Boolean)).toHaveLength(SLOTS / 2)
    // The first attempt need not be 1: a worker whose last runs were short claims a few ahead and hands them back.
    const rises = runs.map((run, index) => run.attempt - (before[index]?.attempt ?? 0))
    expect(rises).toEqual(isReturned.map(Number))
    const holders = runs.filter((_, index) => isReturned[index]).map((run) => run.worker_id)
    expect(new Set(holders).size).toBe(1)
  }),
  TEST_MS,
)
