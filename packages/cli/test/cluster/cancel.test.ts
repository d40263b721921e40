import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TestCluster, until } from './test-cluster.ts'
import { jobEnded, readJob, readRun, submit, targets } from './jobs.ts'
import { begun, lives, openGate, pidsOf } from './traces.ts'

const START_MS = 300_000
const TEST_MS = 600_000
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

let cluster: TestCluster

beforeAll(async () => {
  // Processes that ignore TERM are killed after the grace time: in time for the answer of the request.
  cluster = await TestCluster.start({ workers: 1, slots: 2, env: { SCANFARM_RUNS_CANCEL_GRACE_MS: '200' } })
}, START_MS)

afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
}, START_MS)

const onlyRun = async (jobId: string): Promise<string> => {
  const { runs } = await readJob(cluster.client, jobId)
  const [run] = runs
  if (!run) throw new Error('the job has no run')
  return run.run_uuid
}

test(
  'Cancelling a running run kills its whole process tree on the worker at once and returns the pids',
  async () => {
    const folder = await cluster.traces()
    const jobId = await submit(cluster.client, { module: 'tree', targets: ['tree.test'], params: { folder } })
    await until('the tree has grown', () => pidsOf(folder, 'tree.test').length === PROCESSES)
    const pids = pidsOf(folder, 'tree.test')
    expect(pids.filter(lives)).toHaveLength(PROCESSES)

    const uuid = await onlyRun(jobId)
    const answer = await cluster.client.delete<Cancelled>(`/runs/${uuid}`)
    // Only the worker knows the pids: without its answer there would be a note instead.
    expect(pids.filter(lives)).toEqual([])
    expect(answer).toMatchObject({
      message: 'Run cancelled successfully',
      run_uuid: uuid,
      kill_method: 'registry',
    })
    expect(answer.killed_pids).toEqual(expect.arrayContaining(pids))
    expect(answer.processes_terminated).toBe(answer.killed_pids?.length)
    const run = await readRun(cluster.client, uuid)
    expect(run.status).toBe('cancelled')
    expect((await readJob(cluster.client, jobId)).cancelled).toBe(1)
  },
  TEST_MS,
)

test(
  'Cancelling a run again returns a note and kills nothing',
  async () => {
    const folder = await cluster.traces()
    const jobId = await submit(cluster.client, {
      module: 'tree',
      targets: ['twice.test'],
      params: { folder },
    })
    await until('the tree has grown', () => pidsOf(folder, 'twice.test').length === PROCESSES)
    const uuid = await onlyRun(jobId)
    await cluster.client.delete(`/runs/${uuid}`)
    const again = await cluster.client.delete<Cancelled>(`/runs/${uuid}`)
    expect(again.note).toEqual(expect.any(String))
    expect(again.killed_pids).toBeUndefined()
  },
  TEST_MS,
)

test(
  'A queued run that is cancelled never starts',
  async () => {
    const folder = await cluster.traces()
    const busy = await submit(cluster.client, {
      module: 'gate',
      targets: targets(2, 'busy'),
      params: { folder },
    })
    await until('all slots are busy', () => begun(folder).length === 2)
    const waiting = await submit(cluster.client, {
      module: 'gate',
      targets: ['waiting.test'],
      params: { folder },
    })
    const uuid = await onlyRun(waiting)
    const answer = await cluster.client.delete<Cancelled>(`/runs/${uuid}`)
    expect(answer.note).toEqual(expect.any(String))
    expect((await readRun(cluster.client, uuid)).status).toBe('cancelled')

    const behind = await submit(cluster.client, {
      module: 'gate',
      targets: ['behind.test'],
      params: { folder },
    })
    await openGate(folder)
    await jobEnded(cluster.client, busy)
    await jobEnded(cluster.client, behind)
    expect(begun(folder).sort()).toEqual(['behind.test', 'busy-1.test', 'busy-2.test'])
    expect((await readRun(cluster.client, uuid)).started_at).toBeNull()
  },
  TEST_MS,
)

test(
  'Cancelling a job cancels its running and its queued runs',
  async () => {
    const folder = await cluster.traces()
    const hosts = targets(50, 'many')
    const jobId = await submit(cluster.client, { module: 'tree', targets: hosts, params: { folder } })
    const running = await until('two trees have grown', () => {
      const grown = hosts.filter((host) => pidsOf(folder, host).length === PROCESSES)
      return grown.length === 2 && grown
    })
    await cluster.client.post(`/jobs/${jobId}/cancel`)
    const ended = await jobEnded(cluster.client, jobId)
    expect(ended).toMatchObject({ total_runs: 50, cancelled: 50, completed: 0, failed: 0 })
    const pids = running.flatMap((host) => pidsOf(folder, host))
    await until('the trees are dead', () => !pids.some(lives))
    expect(hosts.filter((host) => pidsOf(folder, host).length > 0)).toHaveLength(2)
  },
  TEST_MS,
)
