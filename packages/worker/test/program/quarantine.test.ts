import { expect, jest, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { openTestCluster } from '../harness/workers.ts'
import { TEST_MS, freshName } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const LEASE_MS = 3_000
const env = { SCANFARM_WORKER_LEASE_MS: String(LEASE_MS), SCANFARM_WORKER_SLOTS: '2' }

const cluster = forAllTests(() => openTestCluster())

/** Kills the worker that executes the run, like a run that crashes its worker. */
const killWorkerOf = async (runId: number): Promise<number> => {
  const { worker_id: workerId } = await cluster.until(runId, ({ status }) => status === 'running')
  const { pid } = await until(
    async () => (await cluster.store.workers.list()).data.find(({ id }) => id === workerId),
    { what: 'the row of the worker' },
  )
  process.kill(pid, 'SIGKILL')
  return pid
}

test('A run that loses two workers is quarantined with their names, and all other runs complete', async () => {
  await using _one = await cluster.spawnWorker(env)
  const [poison = 0] = await cluster.submit([{ name: 'poison', command: 'sleep 300' }], [freshName()])
  const others = await cluster.submit(
    [{ name: 'work', command: 'sleep 0.2' }],
    Array.from({ length: 12 }, freshName),
  )
  const pids: number[] = []
  for (let loss = 0; loss < 2; loss++) {
    pids.push(await killWorkerOf(poison))
    await cluster.spawnWorker(env)
    await cluster.reapUntilOneIsLost(LEASE_MS)
  }
  const run = await cluster.ended(poison)
  expect(run).toMatchObject({ status: 'failed', attempt: 2 })
  const [first, second] = pids.map((pid) => `under-test on \\S+, process ${pid}, last heard of at \\S+Z`)
  expect(run.error_message).toMatch(new RegExp(`^quarantined after 2 lost workers: ${first}; ${second}$`))
  // A run that was lost with it waits in the outbox, and a master sends it.
  await until(
    async () => {
      await cluster.dispatch()
      const runs = await Promise.all(others.map((id) => cluster.run(id)))
      return runs.every(({ status }) => status === 'completed') ? true : undefined
    },
    { what: 'the end of all others' },
  )
  const { data } = await cluster.store.events.list(
    { topic: 'run.failed', runId: run.run_uuid },
    { offset: 0, limit: 5 },
  )
  expect(data.map((entry) => JSON.parse(entry.data) as unknown)).toMatchObject([
    { error_message: run.error_message },
  ])
})
