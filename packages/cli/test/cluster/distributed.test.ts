// long
import { expect, jest, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { runProgram } from '../../src/index.ts'
import { captureTerminal } from '../captured-terminal.ts'
import { TestCluster, TOKEN, until } from './test-cluster.ts'
import { expectExactlyOnce, expectNoneLost, expectOvertaking } from './expectations.ts'
import { jobEnded, readJob, readRun, runsOf, submit, targets } from './jobs.ts'
import { lives, mostAtOnce, openGate, pidsOf, stamped } from './traces.ts'

jest.setTimeout(600_000)

const LOW_RUNS = 5_000
const SLOTS = 8
/** Of the module `tree`. */
const PROCESSES = 3

const cluster = forAllTests(() =>
  TestCluster.start({
    masters: 2,
    workers: 2,
    slots: SLOTS / 2,
    // Processes that ignore TERM are killed after the grace time: in time for the answer of the request.
    env: { SCANFARM_RUNS_CANCEL_GRACE_MS: '200' },
  }),
)

test('Two workers complete each run of a job of 400 targets exactly once', async () => {
  const hosts = targets(400)
  const jobId = await submit(cluster.client, { module: 'noop', targets: hosts })
  await jobEnded(cluster.client, jobId)
  const runs = await expectExactlyOnce(cluster.client, jobId, { targets: hosts, steps: ['nothing'] })
  await expectNoneLost(cluster.client, runs)
})

test('The runs that execute items of a loop are listed with their items', async () => {
  const jobId = await submit(cluster.client, { module: 'spread', targets: ['loop.test'] })
  await jobEnded(cluster.client, jobId)
  const [run] = await runsOf(cluster.client, jobId)
  const listed = async (...args: string[]): Promise<string> => {
    const terminal = captureTerminal({ SCANFARM_URL: cluster.client.url, SCANFARM_TOKEN: TOKEN })
    expect(await runProgram(['runs', ...args], terminal)).toBe(0)
    return terminal.stdout()
  }
  expect(await listed('--parent', String(run?.id))).toMatch(/ ITEMS *\n.* 3 *\n.* 1-2 *\n$/)
  expect(await listed('--job', jobId)).not.toContain('ITEMS')
})

test('A critical run starts before 5,000 queued runs of low priority, and cancelling their job cancels all of them', () =>
  expectOvertaking(cluster, SLOTS, LOW_RUNS))

test('A job with concurrency 3 has at most three commands running on all workers together, and reaches three', async () => {
  const folder = await cluster.traces()
  const hosts = targets(24, 'slow')
  const jobId = await submit(cluster.client, {
    module: 'stamp',
    targets: hosts,
    params: { folder },
    concurrency: 3,
  })
  await until('three have begun', () => stamped(folder) === 3)
  await openGate(folder)
  await jobEnded(cluster.client, jobId)
  await expectExactlyOnce(cluster.client, jobId, { targets: hosts, steps: ['stamp'] })
  expect(await mostAtOnce(folder)).toBe(3)
})

test('An artifact of a worker can be read from a master that did not accept the job', async () => {
  const [one, two] = cluster.masters
  if (!one || !two) throw new Error('the cluster should have two masters')
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
})

test.each([
  { module: 'tree', processes: PROCESSES },
  { module: 'waits', processes: 2 },
])(
  'Cancelling a running run kills all of its processes on the workers at once and returns the pids: $module',
  async ({ module, processes }) => {
    const folder = await cluster.traces()
    const jobId = await submit(cluster.client, { module, targets: ['tree.test'], params: { folder } })
    await until('all processes run', () => pidsOf(folder, 'tree.test').length === processes)
    const pids = pidsOf(folder, 'tree.test')
    expect(pids.filter(lives)).toHaveLength(processes)

    const uuid = (await readJob(cluster.client, jobId)).runs[0]?.run_uuid ?? ''
    const answer = await cluster.client.delete<{ killed_pids?: number[]; processes_terminated?: number }>(
      `/runs/${uuid}`,
    )
    // Only the workers know the pids: without their answer there would be a note instead.
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
)

test('Cancelling a job cancels its running and its queued runs', async () => {
  const folder = await cluster.traces()
  const hosts = targets(50, 'many')
  const jobId = await submit(cluster.client, { module: 'tree', targets: hosts, params: { folder } })
  const running = await until('a tree has grown in each slot', () => {
    const grown = hosts.filter((host) => pidsOf(folder, host).length === PROCESSES)
    return grown.length === SLOTS && grown
  })
  await cluster.client.post(`/jobs/${jobId}/cancel`)
  const ended = await jobEnded(cluster.client, jobId)
  expect(ended).toMatchObject({ total_runs: 50, cancelled: 50, completed: 0, failed: 0 })
  const pids = running.flatMap((host) => pidsOf(folder, host))
  await until('the trees are dead', () => !pids.some(lives))
  expect(hosts.filter((host) => pidsOf(folder, host).length > 0).length).toBeLessThan(hosts.length)
})
