import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { Farm, LEASE_MS, until, type Program } from './farm.ts'
import { expectExactlyOnce } from './expect-exactly-once.ts'
import { jobEnded, readRun, runsOf, someCompleted, submit, targets } from './jobs.ts'
import { begun, openGate } from './traces.ts'

const START_MS = 120_000
const TEST_MS = 90_000
const STEPS = ['rest', 'say']
const HOSTS = targets(300)
/** A lost worker is noticed after its lease; losing half of a farm at once is believed only one lease later. */
const REQUEUED_MS = 6 * LEASE_MS

let farm: Farm

beforeEach(async () => {
  farm = await Farm.start({ workers: 2, slots: 4 })
}, START_MS)

afterEach(async () => {
  await farm[Symbol.asyncDispose]()
}, START_MS)

const workerAt = (index: number): Program => {
  const worker = farm.workers[index]
  if (!worker) throw new Error(`the farm has no worker ${index + 1}`)
  return worker
}

test(
  'killing a worker in the middle of a job loses and doubles nothing',
  async () => {
    const jobId = await submit(farm.client, { module: 'brief', targets: HOSTS })
    await someCompleted(farm.client, jobId, 50)
    await workerAt(0).kill()
    await jobEnded(farm.client, jobId)
    const runs = await expectExactlyOnce(farm.client, jobId, { targets: HOSTS, steps: STEPS })
    expect(runs.filter((run) => run.attempt > 1).length).toBeGreaterThan(0)
  },
  TEST_MS,
)

test(
  'a worker frozen past its lease changes nothing when it goes on, and works again',
  async () => {
    const jobId = await submit(farm.client, { module: 'brief', targets: HOSTS })
    await someCompleted(farm.client, jobId, 50)
    const frozen = workerAt(0)
    frozen.signal('SIGSTOP')
    await jobEnded(farm.client, jobId)
    const before = await expectExactlyOnce(farm.client, jobId, { targets: HOSTS, steps: STEPS })
    expect(before.filter((run) => run.attempt > 1).length).toBeGreaterThan(0)

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
  'killing the only master in the middle of a job stops nothing that runs, and a new one takes over',
  async () => {
    const [master] = farm.masters
    if (!master) throw new Error('the farm should have a master')
    const jobId = await submit(farm.client, { module: 'brief', targets: HOSTS })
    await someCompleted(farm.client, jobId, 50)
    await master.program.kill()
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
    await someCompleted(farm.client, jobs[0], 50)
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
    await until('its runs have begun elsewhere', () => begun(folder).length === held.length + 4, REQUEUED_MS)
    await openGate(folder)
    await jobEnded(farm.client, jobId)
    const runs = await expectExactlyOnce(farm.client, jobId, { targets: held, steps: ['wait'] })
    expect(runs.map((run) => run.attempt).sort()).toEqual([1, 1, 1, 1, 2, 2, 2, 2])
    const again = runs.filter((run) => run.attempt === 2)
    expect(new Set(again.map((run) => run.worker_id)).size).toBe(1)
  },
  TEST_MS,
)

test(
  'a run that kills its worker again and again fails in the end and names the reason',
  async () => {
    const folder = await farm.traces()
    const jobId = await submit(farm.client, { module: 'gate', targets: ['killer.test'], params: { folder } })
    for (let crash = 1; crash <= 3; crash++) {
      await until('the run has begun', () => begun(folder).length === crash, REQUEUED_MS)
      const [run] = await runsOf(farm.client, jobId)
      const holder = (await farm.workerRows()).find(({ id }) => id === run?.worker_id)
      const victim = farm.workers.find(({ name, running }) => running && name === holder?.name)
      if (!victim) throw new Error('no worker holds the run')
      await victim.kill()
      if (crash < 3) await farm.startWorker(`worker-${crash + 2}`)
    }
    const ended = await jobEnded(farm.client, jobId)
    expect(ended.failed).toBe(1)
    const [failed] = ended.runs
    expect((await readRun(farm.client, failed?.run_uuid ?? '')).error_message).toMatch(/worker/)
  },
  TEST_MS,
)
