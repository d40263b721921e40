import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Farm, until } from './farm.ts'
import { jobEnded, readJob, readRun, submit, targets } from './jobs.ts'
import { begun, lives, openGate, pidsOf } from './traces.ts'

const START_MS = 300_000
const TEST_MS = 600_000
/** The server waits so long for the worker: an answer that comes sooner is the worker's, sent as soon as it was asked. */
const ANSWER_MS = 5_000
const PROCESSES = 3

interface Cancelled {
  message: string
  id: number
  run_uuid: string
  killed_pids?: number[]
  processes_terminated?: number
  kill_method?: string
  note?: string
}

let farm: Farm

beforeAll(async () => {
  // Its share of the five seconds is the time that is lost when processes ignore TERM.
  farm = await Farm.start({ workers: 1, slots: 2, env: { SCANFARM_RUNS_CANCEL_GRACE_MS: '200' } })
}, START_MS)

afterAll(async () => {
  await farm[Symbol.asyncDispose]()
}, START_MS)

const onlyRun = async (jobId: string): Promise<string> => {
  const { runs } = await readJob(farm.client, jobId)
  const [run] = runs
  if (!run) throw new Error('the job has no run')
  return run.run_uuid
}

test(
  'cancelling a running run kills its whole process tree on the worker at once and reports the pids',
  async () => {
    const folder = await farm.traces()
    const jobId = await submit(farm.client, { module: 'tree', targets: ['tree.test'], params: { folder } })
    await until('the tree has grown', () => pidsOf(folder, 'tree.test').length === PROCESSES)
    const pids = pidsOf(folder, 'tree.test')
    expect(pids.filter(lives)).toHaveLength(PROCESSES)

    const uuid = await onlyRun(jobId)
    const asked = performance.now()
    const answer = await farm.client.delete<Cancelled>(`/runs/${uuid}`)
    expect(performance.now() - asked).toBeLessThan(ANSWER_MS)
    expect(pids.filter(lives)).toEqual([])
    expect(answer).toMatchObject({
      message: 'Run cancelled successfully',
      run_uuid: uuid,
      kill_method: 'registry',
    })
    expect(answer.killed_pids).toEqual(expect.arrayContaining(pids))
    expect(answer.processes_terminated).toBe(answer.killed_pids?.length)
    const run = await readRun(farm.client, uuid)
    expect(run.status).toBe('cancelled')
    expect((await readJob(farm.client, jobId)).cancelled).toBe(1)
  },
  TEST_MS,
)

test(
  'cancelling a run twice answers with a note',
  async () => {
    const folder = await farm.traces()
    const jobId = await submit(farm.client, { module: 'tree', targets: ['twice.test'], params: { folder } })
    await until('the tree has grown', () => pidsOf(folder, 'twice.test').length === PROCESSES)
    const uuid = await onlyRun(jobId)
    await farm.client.delete(`/runs/${uuid}`)
    const again = await farm.client.delete<Cancelled>(`/runs/${uuid}`)
    expect(again.note).toEqual(expect.any(String))
    expect(again.killed_pids).toBeUndefined()
  },
  TEST_MS,
)

test(
  'a queued run that is cancelled never starts',
  async () => {
    const folder = await farm.traces()
    const busy = await submit(farm.client, {
      module: 'gate',
      targets: targets(2, 'busy'),
      params: { folder },
    })
    await until('all slots are busy', () => begun(folder).length === 2)
    const waiting = await submit(farm.client, {
      module: 'gate',
      targets: ['waiting.test'],
      params: { folder },
    })
    const uuid = await onlyRun(waiting)
    const answer = await farm.client.delete<Cancelled>(`/runs/${uuid}`)
    expect(answer.note).toEqual(expect.any(String))
    expect((await readRun(farm.client, uuid)).status).toBe('cancelled')

    const behind = await submit(farm.client, { module: 'gate', targets: ['behind.test'], params: { folder } })
    await openGate(folder)
    await jobEnded(farm.client, busy)
    await jobEnded(farm.client, behind)
    expect(begun(folder).sort()).toEqual(['behind.test', 'busy-1.test', 'busy-2.test'])
    expect((await readRun(farm.client, uuid)).started_at).toBeNull()
  },
  TEST_MS,
)

test(
  'cancelling a job ends its running and its waiting runs',
  async () => {
    const folder = await farm.traces()
    const hosts = targets(50, 'many')
    const jobId = await submit(farm.client, { module: 'tree', targets: hosts, params: { folder } })
    const running = await until('two trees have grown', () => {
      const grown = hosts.filter((host) => pidsOf(folder, host).length === PROCESSES)
      return grown.length === 2 && grown
    })
    await farm.client.post(`/jobs/${jobId}/cancel`)
    const ended = await jobEnded(farm.client, jobId)
    expect(ended).toMatchObject({ total_runs: 50, cancelled: 50, completed: 0, failed: 0 })
    const pids = running.flatMap((host) => pidsOf(folder, host))
    await until('the trees are dead', () => !pids.some(lives))
    expect(hosts.filter((host) => pidsOf(folder, host).length > 0)).toHaveLength(2)
  },
  TEST_MS,
)
