import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { freshName, gone, isAlive, openBench, TEST_MS, type Bench } from './bench.ts'
import { openGate } from './gate.ts'

jest.setTimeout(TEST_MS)

const LEASE_MS = 3_000
const env = { SCANFARM_WORKER_LEASE_MS: String(LEASE_MS), SCANFARM_WORKER_SLOTS: '1' }

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(async () => {
  await bench[Symbol.asyncDispose]()
})

const pidOf = async (target: string, attempt: number): Promise<number> =>
  Number(await bench.written(target, `pid-${attempt}`))

/** Says which attempt it is, then waits until it may end. */
const GATED = {
  name: 'gated',
  command:
    'echo $$ > {{Output}}/pid-$SCANFARM_ATTEMPT; while [ ! -e {{Output}}/go ]; do sleep 0.05; done; echo by attempt $SCANFARM_ATTEMPT',
}
const LAST = { name: 'last', command: 'echo $SCANFARM_ATTEMPT > {{Output}}/last-$SCANFARM_ATTEMPT' }

const letGo = async (target: string): Promise<void> => {
  await writeFile(`${bench.folder}/data/work/workspaces/${target}/go`, '')
}

test(
  'A worker that is killed loses its commands with it, and another one runs its run again',
  async () => {
    const target = freshName()
    const first = await bench.spawnWorker(env)
    const [runId = 0] = await bench.submit([GATED, LAST], [target])
    const pid = await pidOf(target, 1)
    first.send('SIGKILL')
    expect(await first.ended).toBe('SIGKILL')
    expect(await gone(pid)).toBe(true)
    const second = await bench.spawnWorker(env)
    await bench.reapUntilOneIsLost(LEASE_MS)
    await pidOf(target, 2)
    await letGo(target)
    expect(await bench.ended(runId)).toMatchObject({ status: 'completed', attempt: 2, completed_steps: 2 })
    expect((await bench.store.runs.steps(String(runId)))?.data).toMatchObject([
      { output: 'by attempt 2\n', status: 'completed' },
      { status: 'completed' },
    ])
    second.send('SIGTERM')
    expect(await second.ended).toBe(0)
  },
  TEST_MS,
)

test(
  'A worker that was frozen past its lease has its results refused, and kills what it still runs',
  async () => {
    const target = freshName()
    const frozen = await bench.spawnWorker(env)
    const [runId = 0] = await bench.submit([GATED, LAST], [target])
    const pid = await pidOf(target, 1)
    frozen.send('SIGSTOP')
    const second = await bench.spawnWorker(env)
    await bench.reapUntilOneIsLost(LEASE_MS)
    const successor = await pidOf(target, 2)
    frozen.send('SIGCONT')
    expect(await gone(pid)).toBe(true)
    expect(await isAlive(successor)).toBe(true)
    await letGo(target)
    expect(await bench.ended(runId)).toMatchObject({ status: 'completed', attempt: 2, completed_steps: 2 })
    const steps = (await bench.store.runs.steps(String(runId)))?.data
    expect(steps).toMatchObject([{ output: 'by attempt 2\n' }, { status: 'completed' }])
    // The zombie works again, under a new name.
    second.send('SIGTERM')
    await second.ended
    const [next = 0] = await bench.submit([{ name: 'noop', command: 'true' }], [freshName()])
    expect(await bench.ended(next)).toMatchObject({ status: 'completed' })
    frozen.send('SIGTERM')
    expect(await frozen.ended).toBe(0)
  },
  TEST_MS,
)

test(
  'A worker that is told to stop hands back what does not end in time',
  async () => {
    const target = freshName()
    const worker = await bench.spawnWorker({ ...env, SCANFARM_WORKER_DRAIN_MS: '300' })
    const [runId = 0] = await bench.submit([GATED], [target])
    const pid = await pidOf(target, 1)
    worker.send('SIGTERM')
    expect(await worker.ended).toBe(0)
    expect(await isAlive(pid)).toBe(false)
    expect(await bench.run(runId)).toMatchObject({ status: 'queued', attempt: 1 })
    expect((await bench.store.workers.list()).data.filter(({ status }) => status !== 'lost')).toEqual([])
    await bench.store.runs.requestCancel(String(runId))
  },
  TEST_MS,
)

test(
  'A database that is away for longer than a lease stops no run, and costs no result',
  async () => {
    await using gate = await openGate(bench.databaseUrl)
    const target = freshName()
    const worker = await bench.spawnWorker({ ...env, DATABASE_URL: gate.url })
    const [runId = 0] = await bench.submit([GATED, LAST], [target])
    await pidOf(target, 1)
    await gate.shut()
    await letGo(target)
    expect(await bench.written(target, 'last-1')).toBe('1\n')
    expect(await bench.run(runId)).toMatchObject({ status: 'running', completed_steps: 0 })
    await gate.open()
    expect(await bench.ended(runId)).toMatchObject({ status: 'completed', attempt: 1, completed_steps: 2 })
    expect((await bench.store.runs.steps(String(runId)))?.data).toMatchObject([
      { output: 'by attempt 1\n', status: 'completed' },
      { status: 'completed' },
    ])
    worker.send('SIGTERM')
    expect(await worker.ended).toBe(0)
  },
  TEST_MS,
)

test('A worker that is told to stop while the database is away ends all the same', async () => {
  await using gate = await openGate(bench.databaseUrl)
  const target = freshName()
  const worker = await bench.spawnWorker({
    ...env,
    DATABASE_URL: gate.url,
    SCANFARM_WORKER_DRAIN_MS: '300',
  })
  const [runId = 0] = await bench.submit([GATED], [target])
  const pid = await pidOf(target, 1)
  await gate.shut()
  worker.send('SIGTERM')
  expect({ code: await worker.ended, log: worker.output() }).toMatchObject({ code: 0 })
  expect(await isAlive(pid)).toBe(false)
  await bench.reapUntilOneIsLost(LEASE_MS)
  expect(await bench.run(runId)).toMatchObject({ status: 'queued', attempt: 1 })
  await bench.store.runs.requestCancel(String(runId))
})
