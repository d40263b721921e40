import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { Farm, LEASE_MS, until, type Program } from './farm.ts'
import { expectExactlyOnce } from './expect-exactly-once.ts'
import { jobEnded, readJob, readRun, runsOf, someCompleted, submit, targets, type RunRow } from './jobs.ts'
import { begun, hold, openGate } from './traces.ts'

const START_MS = 300_000
const TEST_MS = 600_000
const STEPS = ['rest', 'say']
/** Lost workers that quarantine a run with none beside it: the default of `runs.quarantine_after`. */
const LOST_WORKERS = 2
const SLOTS = 8
/** In the middle of the job they wait until the gate is open: then each slot of both workers has one. */
const HELD = targets(SLOTS, 'held')
const HOSTS = [...targets(40), ...HELD, ...targets(60, 'last')]

let farm: Farm
const startFarm = (leaseMs?: number) => async (): Promise<void> => {
  farm = await Farm.start({ workers: 2, slots: SLOTS / 2, leaseMs })
}

afterEach(async () => {
  await farm[Symbol.asyncDispose]()
}, START_MS)

const workerAt = (index: number): Program => {
  const worker = farm.workers[index]
  if (!worker) throw new Error(`the farm has no worker ${index + 1}`)
  return worker
}

/** A job that stands in its middle, in the folder of its gate. */
const startedJob = async (): Promise<{ jobId: string; folder: string }> => {
  const folder = await farm.traces()
  await hold(folder, HELD)
  const jobId = await submit(farm.client, { module: 'held', targets: HOSTS, params: { folder } })
  await until('all slots are held', () => begun(folder).length === SLOTS)
  return { jobId, folder }
}

const onlyRun = async (jobId: string): Promise<RunRow> => {
  const [run] = await runsOf(farm.client, jobId)
  if (!run) throw new Error('the job has no run')
  return run
}

/** The living worker that runs the only run of a job, when it does; `undefined` once the run has failed. */
const workerOf = async (jobId: string): Promise<Program | undefined> => {
  const found = await until('the run has begun or failed', async () => {
    const { status, worker_id } = await onlyRun(jobId)
    if (status === 'failed') return 'failed'
    const holder = (await farm.workerRows()).find(({ id }) => id === worker_id)
    return status === 'running' && farm.workers.find(({ name, running }) => running && name === holder?.name)
  })
  return found === 'failed' ? undefined : found
}

describe('a worker that is lost', () => {
  beforeEach(startFarm(LEASE_MS), START_MS)

  test(
    'killing a worker in the middle of a job loses and doubles nothing',
    async () => {
      const { jobId, folder } = await startedJob()
      await workerAt(0).kill()
      await openGate(folder)
      await jobEnded(farm.client, jobId)
      const runs = await expectExactlyOnce(farm.client, jobId, { targets: HOSTS, steps: STEPS })
      expect(runs.filter((run) => run.attempt > 1).length).toBeGreaterThanOrEqual(SLOTS / 2)
    },
    TEST_MS,
  )

  test(
    'a worker frozen past its lease changes nothing when it goes on, and works again',
    async () => {
      const { jobId, folder } = await startedJob()
      const frozen = workerAt(0)
      frozen.signal('SIGSTOP')
      await openGate(folder)
      await jobEnded(farm.client, jobId)
      const before = await expectExactlyOnce(farm.client, jobId, { targets: HOSTS, steps: STEPS })
      expect(before.filter((run) => run.attempt > 1).length).toBeGreaterThanOrEqual(SLOTS / 2)

      frozen.signal('SIGCONT')
      await until('the worker is back', async () =>
        (await farm.workerRows()).some(({ name, status }) => name === frozen.name && status !== 'lost'),
      )
      await workerAt(1).stop()
      const more = targets(20, 'later')
      const later = await submit(farm.client, { module: 'brief', targets: more })
      await jobEnded(farm.client, later)
      await expectExactlyOnce(farm.client, later, { targets: more, steps: STEPS })
      const after = await expectExactlyOnce(farm.client, jobId, { targets: HOSTS, steps: STEPS })
      expect(after).toEqual(before)
    },
    TEST_MS,
  )

  test(
    'a run that kills its worker a second time fails and names the reason',
    async () => {
      const folder = await farm.traces()
      const jobId = await submit(farm.client, {
        module: 'gate',
        targets: ['killer.test'],
        params: { folder },
      })
      for (let victim = await workerOf(jobId); victim; victim = await workerOf(jobId)) {
        await victim.kill()
        const left = farm.workers.some(({ running }) => running)
        if (!left && (await onlyRun(jobId)).attempt < LOST_WORKERS)
          await farm.startWorker(`worker-${farm.workers.length + 1}`)
      }
      await openGate(folder)
      expect((await readJob(farm.client, jobId)).failed).toBe(1)
      const { attempt, error_message } = await readRun(farm.client, (await onlyRun(jobId)).id)
      expect(attempt).toBe(LOST_WORKERS)
      expect(error_message).toMatch(/^quarantined after 2 lost workers/)
    },
    TEST_MS,
  )
})

describe('a worker that is not', () => {
  beforeEach(startFarm(), START_MS)

  test(
    'killing the only master in the middle of a job stops nothing that runs, and a new one takes over',
    async () => {
      const [master] = farm.masters
      if (!master) throw new Error('the farm should have a master')
      const { jobId, folder } = await startedJob()
      await master.program.kill()
      await openGate(folder)
      await farm.startMaster(master.port)
      await jobEnded(farm.client, jobId)
      const runs = await expectExactlyOnce(farm.client, jobId, { targets: HOSTS, steps: STEPS })
      expect(runs.filter((run) => run.attempt !== 1)).toEqual([])
    },
    TEST_MS,
  )

  test(
    'one of two masters can be killed while both feed the farm',
    async () => {
      const second = await farm.startMaster()
      const jobs = await Promise.all([
        submit(farm.client, { module: 'brief', targets: HOSTS }),
        submit(second.client, { module: 'brief', targets: HOSTS }),
      ])
      await someCompleted(farm.client, jobs[0], 20)
      await second.program.kill()
      for (const jobId of jobs) {
        await jobEnded(farm.client, jobId)
        await expectExactlyOnce(farm.client, jobId, { targets: HOSTS, steps: STEPS })
      }
    },
    TEST_MS,
  )

  test(
    'a worker asked to stop finishes what it can and hands back the rest without counting a crash',
    async () => {
      const folder = await farm.traces()
      const stopping = workerAt(0)
      const held = targets(8, 'held')
      const jobId = await submit(farm.client, { module: 'gate', targets: held, params: { folder } })
      await until('all slots are busy', () => begun(folder).length === held.length)
      await farm.startWorker('worker-3', { SCANFARM_WORKER_SLOTS: '8' })
      expect(await stopping.stop()).toEqual({ code: 0, signal: null })
      await until('its runs have begun elsewhere', () => begun(folder).length === held.length + 4)
      await openGate(folder)
      await jobEnded(farm.client, jobId)
      const runs = await expectExactlyOnce(farm.client, jobId, { targets: held, steps: ['wait'] })
      expect(runs.map((run) => run.attempt).sort()).toEqual([1, 1, 1, 1, 2, 2, 2, 2])
      const again = runs.filter((run) => run.attempt === 2)
      expect(new Set(again.map((run) => run.worker_id)).size).toBe(1)
    },
    TEST_MS,
  )
})
