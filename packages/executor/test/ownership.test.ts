import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { RunStore, RunUpdate } from '@scanfarm/contracts'
import { bash, eventually, isAlive, openBench, TEST_MS, waitFor, type Bench, type Steps } from './bench.ts'

jest.setTimeout(TEST_MS)

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(async () => {
  await bench[Symbol.asyncDispose]()
})

const pidOf = (target: string, attempt: number): Promise<number> =>
  eventually(async () => {
    const file = join(bench.folder, 'work/workspaces', target, `pid-${attempt}`)
    const content = await readFile(file, 'utf8').catch(() => '')
    return content.endsWith('\n') ? Number(content) : undefined
  })
const gone = (pid: number): Promise<boolean> =>
  eventually(async () => ((await isAlive(pid)) ? undefined : true))

const HOUR_MS = 3_600_000
const SLOW = bash(
  'slow',
  'echo $$ > {{Output}}/pid-$SCANFARM_ATTEMPT; echo attempt $SCANFARM_ATTEMPT; sleep 300',
)

test('A run that now belongs to another attempt is killed here, and nothing of the old one is written', async () => {
  const [runId = 0] = await bench.submit([SLOW], { targets: ['fence.test'] })
  await using first = bench.executor({ slots: 1 })
  const firstPid = await pidOf('fence.test', 1)
  await bench.runStore.handBack([{ runId, attempt: 1 }])
  await using second = bench.executor({ slots: 1 })
  const secondPid = await pidOf('fence.test', 2)
  expect(await gone(firstPid)).toBe(true)
  expect(await isAlive(secondPid)).toBe(true)
  await eventually(async () => (first.status.busy + second.status.busy === 1 ? true : undefined))
  expect(await bench.run(runId)).toMatchObject({ status: 'running', attempt: 2 })
  const [step] = await eventually(async () => {
    const steps = await bench.steps(runId)
    return steps[0]?.output ? steps : undefined
  })
  expect(step).toMatchObject({ status: 'running', output: 'attempt 2\n' })
  await bench.cancelled(runId)
})

test('A worker that was given up stops its runs and comes back under a new id', async () => {
  const [runId = 0] = await bench.submit([SLOW], { targets: ['expelled.test'] })
  await using executor = bench.executor({ slots: 1 })
  const before = await pidOf('expelled.test', 1)
  const { workerId = '' } = executor.status
  await bench.runStore.leave(workerId)
  expect(await gone(before)).toBe(true)
  const after = await pidOf('expelled.test', 2)
  expect(await isAlive(after)).toBe(true)
  expect(executor.status.workerId).not.toBe(workerId)
  expect(await bench.run(runId)).toMatchObject({
    status: 'running',
    attempt: 2,
    worker_id: executor.status.workerId,
  })
  await bench.cancelled(runId)
})

test('A run that Postgres believes to be here, and that is not, is handed back', async () => {
  await using executor = bench.executor({ slots: 1 })
  const [blocker = 0] = await bench.submit([bash('block', 'sleep 300')])
  await bench.until(blocker, ({ status }) => status === 'running')
  const [runId = 0] = await bench.submit([bash('noop', 'true')])
  const { workerId = '' } = executor.status
  // As if the answer to a claim had been lost.
  expect(await bench.runStore.claimLocal(workerId, 1)).toMatchObject([{ runId, attempt: 1 }])
  await bench.until(runId, ({ status }) => status === 'queued')
  await bench.cancelled(blocker)
  expect(await bench.ended(runId)).toMatchObject({ status: 'completed', attempt: 2 })
})

test('A drain lets runs end that do so in time, and takes no more', async () => {
  const executor = bench.executor({ slots: 2 })
  const [short = 0] = await bench.submit([bash('short', waitFor('{{Output}}/go'))], {
    targets: ['short.test'],
  })
  await bench.until(short, ({ status }) => status === 'running')
  const drained = executor.drain(HOUR_MS)
  const [left = 0] = await bench.submit([bash('noop', 'true')])
  await eventually(() =>
    bench.makeFile('short.test', 'go').then(
      () => true,
      () => undefined,
    ),
  )
  await drained
  expect(await bench.run(short)).toMatchObject({ status: 'completed' })
  expect(await bench.run(left)).toMatchObject({ status: 'queued' })
  expect((await bench.store.workers.list()).data).toEqual([])
  await bench.cancelled(left)
})

test('A run whose claim was under way when the drain began is handed back without being run', async () => {
  const claimed = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const store: RunStore = {
    ...bench.runStore,
    claimLocal: async (workerId, limit) => {
      const runs = await bench.runStore.claimLocal(workerId, limit)
      if (runs.length > 0) {
        claimed.resolve()
        await answer.promise
      }
      return runs
    },
  }
  const executor = bench.executor({ store })
  const [runId = 0] = await bench.submit([bash('noop', 'true')], { targets: ['in-claim.test'] })
  await claimed.promise
  const drained = executor.drain(HOUR_MS)
  answer.resolve()
  await drained
  expect(await bench.run(runId)).toMatchObject({ status: 'queued', attempt: 1 })
  await bench.cancelled(runId)
})

test('A drain kills what does not end in time and hands it back', async () => {
  const executor = bench.executor({ slots: 2 })
  const [long = 0] = await bench.submit([SLOW], { targets: ['long.test'] })
  const pid = await pidOf('long.test', 1)
  await executor.drain(100)
  expect(await bench.run(long)).toMatchObject({ status: 'queued', attempt: 1 })
  expect(await isAlive(pid)).toBe(false)
  expect((await bench.store.workers.list()).data).toEqual([])
  await bench.cancelled(long)
  const [left = 0] = await bench.submit([bash('noop', 'true')])
  expect(await bench.run(left)).toMatchObject({ status: 'queued' })
  await using _next = bench.executor()
  expect(await bench.ended(left)).toMatchObject({ status: 'completed' })
})

test('A run whose record the store will not take fails, and holds up no other', async () => {
  const refuse = (update: RunUpdate): boolean =>
    update.steps?.some((step) => step.output.includes('poison')) === true
  const picky: RunStore = {
    ...bench.runStore,
    record: async (updates) => {
      if (updates.some(refuse)) throw new Error('value out of range')
      return bench.runStore.record(updates)
    },
    finish: async (ends) => {
      if (ends.some(({ last }) => refuse(last))) throw new Error('value out of range')
      return bench.runStore.finish(ends)
    },
  }
  await using _executor = bench.executor({
    store: picky,
    times: { retryFirstMs: 10, retryMostMs: 50, cancelPollMs: 20 },
  })
  const [bad = 0] = await bench.submit([bash('bad', 'echo poison; sleep 300')])
  const [good = 0] = await bench.submit([bash('good', 'echo fine')])
  expect(await bench.ended(good)).toMatchObject({ status: 'completed' })
  expect(await bench.ended(bad)).toMatchObject({
    status: 'failed',
    error_message: 'what the run did could not be recorded: value out of range',
  })
})

describe('Bytes of an attempt without rows', () => {
  const stored = async (runUuid: string): Promise<string[]> =>
    (await Array.fromAsync(bench.artifacts.list(`runs/${runUuid}`))).map(({ key }) => key)
  const REPORTED: Steps = [
    bash('loud', 'seq 20000; echo found > {{Output}}/found.txt'),
    { name: 'keep', type: 'function', function: "register_artifact('{{Output}}/found.txt', 'output')" },
    bash('wait', 'sleep 300'),
  ]

  test('are removed when the worker has lost the run', async () => {
    // Nothing of the first attempt is recorded, as by a fence that refuses it.
    const mute: RunStore = { ...bench.runStore, record: () => new Promise(() => undefined) }
    const executor = bench.executor({ slots: 1, store: mute })
    const [runId = 0] = await bench.submit(REPORTED)
    const { run_uuid: uuid } = await bench.until(runId, ({ status }) => status === 'running')
    await eventually(async () => ((await stored(uuid)).length >= 2 ? true : undefined))
    await bench.store.runs.requestCancel(uuid)
    expect(await bench.store.runs.forceCancel(runId, 0)).toBe(true)
    await eventually(async () => ((await stored(uuid)).length === 0 ? true : undefined))
    await executor.drain(HOUR_MS)
    expect(await bench.run(runId)).toMatchObject({ status: 'cancelled' })
  })

  test('are removed when it is handed back, and those with rows stay', async () => {
    const executor = bench.executor({ slots: 1 })
    const [runId = 0] = await bench.submit(REPORTED)
    const { run_uuid: uuid } = await bench.until(runId, ({ completed_steps }) => completed_steps === 2)
    await executor.drain(0)
    expect(await bench.run(runId)).toMatchObject({ status: 'queued' })
    const { keys } = await bench.store.retention.bytesOf(runId)
    expect((await stored(uuid)).sort()).toEqual(keys.sort())
    expect(keys).not.toEqual([])
    await bench.cancelled(runId)
  })
})
