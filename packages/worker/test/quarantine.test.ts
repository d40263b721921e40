import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { eventually, freshName, openBench, TEST_MS, type Bench } from './bench.ts'

jest.setTimeout(TEST_MS)

const LEASE_MS = 3_000
const env = { SCANFARM_WORKER_LEASE_MS: String(LEASE_MS), SCANFARM_WORKER_SLOTS: '2' }

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(async () => {
  await bench[Symbol.asyncDispose]()
})

/** Ends the process of the worker that executes the run, as something in the run would. */
const killWorkerOf = async (runId: number): Promise<number> => {
  const { worker_id: workerId } = await bench.until(runId, ({ status }) => status === 'running')
  const { pid } = await eventually('the row of the worker', async () =>
    (await bench.store.workers.list()).data.find(({ id }) => id === workerId),
  )
  process.kill(pid, 'SIGKILL')
  return pid
}

test('A run that costs two workers is quarantined with their names, and all others complete', async () => {
  await using _one = await bench.spawnWorker(env)
  const [poison = 0] = await bench.submit([{ name: 'poison', command: 'sleep 300' }], [freshName()])
  const others = await bench.submit(
    [{ name: 'work', command: 'sleep 0.2' }],
    Array.from({ length: 12 }, freshName),
  )
  const pids: number[] = []
  for (let loss = 0; loss < 2; loss++) {
    pids.push(await killWorkerOf(poison))
    await bench.spawnWorker(env)
    await bench.reapUntilOneIsLost(LEASE_MS)
  }
  const run = await bench.ended(poison)
  expect(run).toMatchObject({ status: 'failed', attempt: 2 })
  const [first, second] = pids.map((pid) => `under-test on \\S+, process ${pid}, last heard of at \\S+Z`)
  expect(run.error_message).toMatch(new RegExp(`^quarantined after 2 lost workers: ${first}; ${second}$`))
  // One that was lost beside it waits for its turn in the outbox, from where a master sends it.
  await eventually('the end of all others', async () => {
    await bench.dispatch()
    const runs = await Promise.all(others.map((id) => bench.run(id)))
    return runs.every(({ status }) => status === 'completed') ? true : undefined
  })
  const { data } = await bench.store.events.list(
    { topic: 'run.failed', runId: run.run_uuid },
    { offset: 0, limit: 5 },
  )
  expect(data.map((entry) => JSON.parse(entry.data) as unknown)).toMatchObject([
    { error_message: run.error_message },
  ])
})
