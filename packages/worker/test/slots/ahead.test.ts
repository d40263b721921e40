import { expect, jest, test } from '@jest/globals'
import type { ClaimedRun, RunStore } from '@scanfarm/contracts'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { createPolledSource, type RunSource } from '../../src/slots/run-sources.ts'
import { RunsAhead } from '../../src/slots/runs-ahead.ts'
import { openHarness } from '../harness/executors.ts'
import { TEST_MS, bash, waitFor } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const harness = forAllTests(() => openHarness())

const SHORT = 60
/** Runs without a process are short compared with this on a busy machine too. */
const times = { aheadMs: 1_000 }
/** Ends at once, without a process. */
const short = bash('short', 'true', { pre_condition: 'false' })
const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}.test`)

/** Resolves when the process of its step has started. */
const executing = (runId: number): Promise<unknown> =>
  until(async () => (await harness.steps(runId))[0]?.status === 'running')

/** Local runs; notes the number of runs of each claim. */
const noting = (claims: number[]): RunSource =>
  createPolledSource({
    async claim(workerId, max): Promise<readonly ClaimedRun[]> {
      const runs = await harness.runStore.claimLocal(workerId, max)
      if (runs.length > 0) claims.push(runs.length)
      return runs
    },
    pollMs: 20,
  })

test('Short runs are claimed in groups, ahead of a free slot, and each is executed once', async () => {
  const runIds = await harness.submit([short], { targets: names('group', SHORT) })
  const claims: number[] = []
  await using _executor = harness.executor({ slots: 1, times, source: noting(claims) })
  for (const runId of runIds) expect(await harness.ended(runId)).toMatchObject({ attempt: 1 })
  expect(claims.reduce((sum, one) => sum + one, 0)).toBe(SHORT)
  expect(claims.length).toBeLessThan(SHORT / 2)
})

test('Long runs that end together are not followed by runs that wait for a slot', async () => {
  const runIds = await harness.submit([bash('nap', 'sleep 0.5')], { targets: names('nap', 6) })
  const wanted: number[] = []
  const source = createPolledSource({
    async claim(workerId, max): Promise<readonly ClaimedRun[]> {
      wanted.push(executor.status.busy + max)
      return await harness.runStore.claimLocal(workerId, max)
    },
    pollMs: 20,
  })
  await using executor = harness.executor({ slots: 2, source })
  for (const runId of runIds) expect(await harness.ended(runId)).toMatchObject({ attempt: 1 })
  expect(Math.max(...wanted)).toBe(2)
})

test('Runs that were claimed ahead are handed back when the run before them is long', async () => {
  const shortIds = await harness.submit([short], { targets: names('before', SHORT) })
  const longIds = await harness.submit([bash('long', waitFor('{{Output}}/open'))], {
    targets: names('long', 4),
    // They begin when no short one waits.
    job: { priority: 'low' },
  })
  await using _executor = harness.executor({ slots: 1, times, source: noting([]) })
  for (const runId of shortIds) await harness.ended(runId)
  const [first = 0, ...others] = longIds
  await executing(first)
  const handedBack = await until(async () => {
    const runs = await Promise.all(others.map((runId) => harness.run(runId)))
    return runs.every(({ status }) => status === 'queued') && runs.some(({ attempt }) => attempt === 1)
  })
  expect(handedBack).toBe(true)
  expect(await harness.run(first)).toMatchObject({ status: 'running', attempt: 1 })
  for (const [index, runId] of longIds.entries()) {
    await executing(runId)
    await harness.makeFile(`long${index}.test`, 'open')
    expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
  }
})

test('As many runs are claimed ahead as end while a claim is made', () => {
  const ahead = new RunsAhead(10, 600_000)
  const claimable = () => ahead.capacity(0, 0)
  expect(claimable()).toBe(0)
  const end = (ms: number) => {
    for (let n = 0; n < 50; n += 1) ahead.ended(performance.now() - ms)
  }
  end(1_000)
  ahead.claimed(100)
  const quick = claimable()
  ahead.claimed(1_000)
  const slow = claimable()
  expect(quick).toBeLessThan(5)
  expect(slow).toBeGreaterThan(10)
  expect(ahead.capacity(2, 5)).toBe(slow - 3)
  for (let n = 0; n < 50; n += 1) ahead.claimed(100)
  expect(claimable()).toBe(quick)
  end(100_000)
  expect(claimable()).toBe(0)
})

test('A small job does not wait for all runs that were claimed ahead of a large one', async () => {
  const large = await harness.submit([bash('large', 'true')], { targets: names('large', 8) })
  const small = await harness.submit([bash('small', 'true')], { targets: names('small', 3) })
  await using _executor = harness.executor({
    slots: 1,
    times,
    source: createPolledSource({
      claim: (workerId) => harness.runStore.claimLocal(workerId, large.length + small.length),
      pollMs: 20,
    }),
  })
  for (const runId of [...large, ...small]) expect(await harness.ended(runId)).toMatchObject({ attempt: 1 })
  const begun = async (runId: number) => Date.parse((await harness.steps(runId))[0]?.started_at ?? '')
  const before = await Promise.all(large.map(begun))
  const last = Math.max(...(await Promise.all(small.map(begun))))
  expect(before.filter((time) => time < last)).toHaveLength(1)
})

test('A run that was claimed ahead and has no share of its limit is handed back while no slot is free', async () => {
  const command = `case {{Target}} in a.*) ${waitFor('{{Output}}/open')};; esac`
  const [first = 0, ...others] = await harness.submit([bash('wait', command)], {
    targets: ['a.limited.test', 'b.limited.test', 'c.limited.test'],
  })
  await harness.store.limits.set({ per_domain: { runs: 1 } })
  await using _executor = harness.executor({
    slots: 1,
    source: createPolledSource({
      claim: (workerId) => harness.runStore.claimLocal(workerId, 3),
      pollMs: 20,
    }),
  })
  try {
    await executing(first)
    for (const runId of others)
      expect(
        await until(async () => {
          const run = await harness.run(runId)
          return run.status === 'queued' && run.waiting_reason !== '' ? run.waiting_reason : undefined
        }),
      ).toBe('waiting: limit of limited.test: 1 of 1 run')
    await harness.makeFile('a.limited.test', 'open')
    for (const runId of [first, ...others])
      expect(await harness.ended(runId)).toMatchObject({ outcome: 'clean' })
  } finally {
    await harness.store.limits.set({})
  }
})

test('Slots that become free while runs are claimed ahead take runs again', async () => {
  // With a process: its slot is busy while more runs are asked for.
  const runIds = await harness.submit([bash('quick', 'true')], { targets: names('quick', SHORT) })
  let aheads = 0
  const source: RunSource = {
    claiming: false,
    async next(workerId, capacity, _signal, free) {
      if (free !== 0) return await harness.runStore.claimLocal(workerId, capacity())
      // Like a queue that cannot be reached for a while.
      aheads += 1
      await until(() => executor.status.busy === 0)
      return []
    },
  }
  await using executor = harness.executor({ slots: 1, times, source })
  for (const runId of runIds) await harness.ended(runId)
  expect(aheads).toBeGreaterThan(0)
})

test('No further runs are claimed while many that have ended wait for being written', async () => {
  const runIds = await harness.submit([short], { targets: names('unwritten', 600) })
  const database = Promise.withResolvers<void>()
  let heartbeats = 0
  const store = new Proxy(harness.runStore, {
    get(target, name: keyof RunStore) {
      if (name === 'heartbeat') heartbeats += 1
      if (name !== 'finish') return target[name]
      return async (...args: Parameters<RunStore['finish']>) => {
        await database.promise
        return await target.finish(...args)
      }
    },
  })
  const claims: number[] = []
  const claimed = (): number => claims.reduce((sum, one) => sum + one, 0)
  await using _executor = harness.executor({
    slots: 1,
    leaseMs: 15_000,
    times,
    store,
    source: noting(claims),
  })
  await until(() => claimed() >= 256)
  const before = heartbeats
  await until(() => heartbeats > before + 1)
  // Runs in the slot and ahead of it came with the last claim.
  expect(claimed()).toBeLessThan(256 + 128 + 1)
  database.resolve()
  for (const runId of runIds) expect(await harness.ended(runId)).toMatchObject({ attempt: 1 })
})
