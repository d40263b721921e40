import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, jest, test } from '@jest/globals'
import type { Step } from '@scanfarm/language'
import type { RunStore, RunUpdate } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { openHarness } from '../harness/executors.ts'
import { TEST_MS, bash, isAlive, waitFor } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const harness = forAllTests(openHarness)

const pidOf = (target: string, attempt: number): Promise<number> =>
  until(async () => {
    const file = join(harness.folder, 'work/workspaces', target, `pid-${attempt}`)
    const content = await readFile(file, 'utf8').catch(() => '')
    return content.endsWith('\n') ? Number(content) : undefined
  })
const gone = (pid: number): Promise<boolean> => until(async () => ((await isAlive(pid)) ? undefined : true))

const HOUR_MS = 3_600_000
const SLOW = bash(
  'slow',
  'echo $$ > {{Output}}/pid-$SCANFARM_ATTEMPT; echo attempt $SCANFARM_ATTEMPT; sleep 300',
)

test('A run that belongs to another attempt is killed, and nothing of the old attempt is written', async () => {
  const [runId = 0] = await harness.submit([SLOW], { targets: ['fence.test'] })
  await using first = harness.executor({ slots: 1 })
  const firstPid = await pidOf('fence.test', 1)
  await harness.runStore.handBack([{ runId, attempt: 1 }])
  await using second = harness.executor({ slots: 1 })
  const secondPid = await pidOf('fence.test', 2)
  expect(await gone(firstPid)).toBe(true)
  expect(await isAlive(secondPid)).toBe(true)
  await until(async () => (first.status.busy + second.status.busy === 1 ? true : undefined))
  expect(await harness.run(runId)).toMatchObject({ status: 'running', attempt: 2 })
  const [step] = await until(async () => {
    const steps = await harness.steps(runId)
    return steps[0]?.output ? steps : undefined
  })
  expect(step).toMatchObject({ status: 'running', output: 'attempt 2\n' })
  await harness.cancelled(runId)
})

test('A worker that lost its lease stops its runs and joins again under a new id', async () => {
  const [runId = 0] = await harness.submit([SLOW], { targets: ['expelled.test'] })
  await using executor = harness.executor({ slots: 1 })
  const before = await pidOf('expelled.test', 1)
  const { workerId = '' } = executor.status
  await harness.runStore.leave(workerId)
  expect(await gone(before)).toBe(true)
  const after = await pidOf('expelled.test', 2)
  expect(await isAlive(after)).toBe(true)
  expect(executor.status.workerId).not.toBe(workerId)
  expect(await harness.run(runId)).toMatchObject({
    status: 'running',
    attempt: 2,
    worker_id: executor.status.workerId,
  })
  await harness.cancelled(runId)
})

test.each([
  ['stops its runs before the lease ends if that is set', true],
  ['continues its runs otherwise', false],
])('A worker whose heartbeats get no answer %s', async (_what, stopAfterLease) => {
  const target = `silent-${stopAfterLease}.test`
  const [runId = 0] = await harness.submit([SLOW], { targets: [target] })
  let heartbeats = 0
  let isSilent = false
  const store: RunStore = {
    ...harness.runStore,
    heartbeat: (...args) => {
      heartbeats += 1
      return isSilent ? new Promise(() => undefined) : harness.runStore.heartbeat(...args)
    },
  }
  await using executor = harness.executor({ slots: 1, leaseMs: 3_000, store, stopAfterLease })
  const pid = await pidOf(target, 1)
  const { workerId = '' } = executor.status
  await until(() => heartbeats > 0)
  isSilent = true
  await until(() => executor.status.silenceMs > 3_500)
  if (stopAfterLease) await until(async () => !(await isAlive(pid)) && executor.status.workerId !== workerId)
  else {
    expect(await isAlive(pid)).toBe(true)
    expect(executor.status.workerId).toBe(workerId)
  }
  // Only the reaper takes the run from the worker.
  expect(await harness.run(runId)).toMatchObject({ status: 'running', attempt: 1 })
  await harness.runStore.leave(workerId)
  await harness.cancelled(runId)
})

test('A run that Postgres lists for a worker that does not execute it is handed back', async () => {
  await using executor = harness.executor({ slots: 1 })
  const [blocker = 0] = await harness.submit([bash('block', 'sleep 300')])
  await harness.until(blocker, ({ status }) => status === 'running')
  const [runId = 0] = await harness.submit([bash('noop', 'true')])
  const { workerId = '' } = executor.status
  // Like a claim whose answer was lost.
  expect(await harness.runStore.claimLocal(workerId, 1)).toMatchObject([{ runId, attempt: 1 }])
  await harness.until(runId, ({ status }) => status === 'queued')
  await harness.cancelled(blocker)
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed', attempt: 2 })
})

test('A drain waits for runs that end in time and takes no more runs', async () => {
  const executor = harness.executor({ slots: 2 })
  const [short = 0] = await harness.submit([bash('short', waitFor('{{Output}}/go'))], {
    targets: ['short.test'],
  })
  // Postgres shows the run as running before the claim has returned it.
  await until(() => executor.status.busy === 1)
  const drained = executor.drain(HOUR_MS)
  const [left = 0] = await harness.submit([bash('noop', 'true')])
  await until(() =>
    harness.makeFile('short.test', 'go').then(
      () => true,
      () => undefined,
    ),
  )
  await drained
  expect(await harness.run(short)).toMatchObject({ status: 'completed' })
  expect(await harness.run(left)).toMatchObject({ status: 'queued' })
  expect((await harness.store.workers.list()).data).toEqual([])
  await harness.cancelled(left)
})

test('A run whose claim was pending when the drain began is handed back without being executed', async () => {
  const claimed = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const store: RunStore = {
    ...harness.runStore,
    claimLocal: async (workerId, limit) => {
      const runs = await harness.runStore.claimLocal(workerId, limit)
      if (runs.length > 0) {
        claimed.resolve()
        await answer.promise
      }
      return runs
    },
  }
  const executor = harness.executor({ store })
  const [runId = 0] = await harness.submit([bash('noop', 'true')], { targets: ['in-claim.test'] })
  await claimed.promise
  const drained = executor.drain(HOUR_MS)
  answer.resolve()
  await drained
  expect(await harness.run(runId)).toMatchObject({ status: 'queued', attempt: 1 })
  await harness.cancelled(runId)
})

test('A process that joins while it drains leaves the farm', async () => {
  const joining = Promise.withResolvers<void>()
  const mayJoin = Promise.withResolvers<void>()
  const store: RunStore = {
    ...harness.runStore,
    join: async (intro) => {
      joining.resolve()
      await mayJoin.promise
      return harness.runStore.join(intro)
    },
  }
  const executor = harness.executor({ store })
  await joining.promise
  const drained = executor.drain(HOUR_MS)
  // The drain has begun to wait for the lease by now.
  await new Promise((resolve) => setImmediate(resolve))
  mayJoin.resolve()
  await drained
  expect((await harness.store.workers.list()).data).toEqual([])
})

test('A drain kills runs that do not end in time and hands them back', async () => {
  const executor = harness.executor({ slots: 2 })
  const [long = 0] = await harness.submit([SLOW], { targets: ['long.test'] })
  const pid = await pidOf('long.test', 1)
  await executor.drain(100)
  expect(await harness.run(long)).toMatchObject({ status: 'queued', attempt: 1 })
  expect(await isAlive(pid)).toBe(false)
  expect((await harness.store.workers.list()).data).toEqual([])
  await harness.cancelled(long)
  const [left = 0] = await harness.submit([bash('noop', 'true')])
  expect(await harness.run(left)).toMatchObject({ status: 'queued' })
  await using _next = harness.executor()
  expect(await harness.ended(left)).toMatchObject({ status: 'completed' })
})

test('A run whose records the store refuses fails and does not delay other runs', async () => {
  const refuse = (update: RunUpdate): boolean =>
    update.steps?.some((step) => step.output.includes('poison')) === true
  const picky: RunStore = {
    ...harness.runStore,
    record: async (updates) => {
      if (updates.some(refuse)) throw new Error('value out of range')
      return harness.runStore.record(updates)
    },
    finish: async (ends) => {
      if (ends.some(({ last }) => refuse(last))) throw new Error('value out of range')
      return harness.runStore.finish(ends)
    },
  }
  await using _executor = harness.executor({
    store: picky,
    times: { retryFirstMs: 10, retryMostMs: 50, cancelPollMs: 20 },
  })
  const [bad = 0] = await harness.submit([bash('bad', 'echo poison; sleep 300')])
  const [good = 0] = await harness.submit([bash('good', 'echo fine')])
  expect(await harness.ended(good)).toMatchObject({ status: 'completed' })
  expect(await harness.ended(bad)).toMatchObject({
    status: 'failed',
    error_message: 'what the run did could not be recorded: value out of range',
  })
})

describe('Uploads of an attempt without rows', () => {
  /** Without what a retry may take over. */
  const stored = async (runUuid: string): Promise<string[]> => {
    const found = await Array.fromAsync(harness.artifacts.list(`runs/${runUuid}`), ({ key }) => key)
    return found.filter((key) => !key.includes('/resume/'))
  }
  const endByForce = (runId: number): Promise<unknown> => {
    const end = { id: runId, status: 'cancelled', error: 'ended by force' }
    const query = 'select end_runs($1::jsonb)'
    return harness.sql(query, [JSON.stringify([end])])
  }
  const REPORTED: Step[] = [
    bash('loud', 'seq 20000; echo found > {{Output}}/found.txt'),
    { name: 'keep', type: 'function', function: "register_artifact('{{Output}}/found.txt', 'output')" },
    bash('wait', 'sleep 300'),
  ]

  test('are removed when the worker has lost the run', async () => {
    // No write of the first attempt is recorded, like one that Postgres refuses.
    const mute: RunStore = { ...harness.runStore, record: () => new Promise(() => undefined) }
    const executor = harness.executor({ slots: 1, store: mute })
    const [runId = 0] = await harness.submit(REPORTED)
    const { run_uuid: uuid } = await harness.until(runId, ({ status }) => status === 'running')
    await until(async () => ((await stored(uuid)).length >= 2 ? true : undefined))
    // Without a cancel request before it: a heartbeat between the two would end the run as a cancelled one.
    await endByForce(runId)
    await until(async () => ((await stored(uuid)).length === 0 ? true : undefined))
    await executor.drain(HOUR_MS)
    expect(await harness.run(runId)).toMatchObject({ status: 'cancelled' })
  })

  test('are removed when the run is handed back, and uploads with rows stay', async () => {
    const executor = harness.executor({ slots: 1 })
    const [runId = 0] = await harness.submit(REPORTED)
    const { run_uuid: uuid } = await harness.until(runId, ({ completed_steps }) => completed_steps === 2)
    await executor.drain(0)
    expect(await harness.run(runId)).toMatchObject({ status: 'queued' })
    const { keys } = await harness.store.retention.bytesOf(runId)
    expect((await stored(uuid)).sort()).toEqual(keys.sort())
    expect(keys).not.toEqual([])
    await harness.cancelled(runId)
  })
})
