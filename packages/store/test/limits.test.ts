import { beforeEach, expect, test } from '@jest/globals'
import type { ClaimedRun, LimitShare, LimitSpan, RunStore } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { openRunStore } from '../src/index.ts'
import { testDatabase } from './database.ts'
import { claimAll, ended, joined, keyOf, submitted, take, targets, wipe } from './fixtures.ts'

const db = forAllTests(testDatabase)
beforeEach(async () => {
  await wipe(db.url)
  await db.sql(`truncate limit_uses, scan_scopes; update farm_limits set limits = '{}'`)
})

const address = (lo: number, hi = lo): LimitSpan => {
  const digits = (at: number): string => at.toString(16).padStart(32, '0')
  return { kind: 'per_address', lo: digits(lo), hi: digits(hi), label: `address ${lo}` }
}
const domain = (name: string): LimitSpan => ({ kind: 'per_domain', lo: name, hi: name, label: name })
const isGranted = (share: LimitShare): boolean => 'rate' in share

/** Starts a run, or hands it back. */
const start = async (
  runStore: RunStore,
  run: ClaimedRun,
  spans: readonly LimitSpan[],
): Promise<LimitShare> => {
  const share = await runStore.takeLimits(keyOf(run), spans)
  if (!isGranted(share)) await runStore.handBack([keyOf(run)], 'share')
  return share
}
const waitingReason = async (runId: number): Promise<string> =>
  (await db.store.runs.find(String(runId)))?.waiting_reason ?? ''
const offered = async (): Promise<number[]> => (await take(db.store)).map(({ runId }) => runId)

test('Runs of many workers never use more than a limit, and all of them run', async () => {
  await db.store.limits.set({ per_address: { runs: 3, rate: 10 } })
  const RUNS = 40
  await submitted(db.store, {}, targets(RUNS))
  const stores = await Promise.all(
    Array.from({ length: 8 }, () => openRunStore({ url: db.url, poolSize: 1, applicationName: 'limited' })),
  )
  let working = 0
  let most = 0
  let done = 0
  const rates = new Set<number | null>()
  const work = async (runStore: RunStore): Promise<void> => {
    const workerId = await joined(runStore)
    await until(
      async () => {
        const runs = await claimAll(db.store, runStore, workerId, { limit: 3 })
        await Promise.all(
          runs.map(async (run) => {
            const share = await start(runStore, run, [address(1, 1 + (run.runId % 4))])
            if ('reason' in share) return
            rates.add(share.rate)
            working += 1
            most = Math.max(most, working)
            await runStore.record([{ ...keyOf(run), totalSteps: 1 }])
            working -= 1
            await runStore.finish([ended(run)])
            done += 1
          }),
        )
        return done === RUNS
      },
      { what: 'all runs have ended' },
    )
  }
  try {
    await Promise.all(stores.map(work))
  } finally {
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()))
  }
  expect(most).toBe(3)
  expect([...rates]).toEqual([3])
  expect((await db.sql('select from limit_uses')).rowCount).toBe(0)
})

test('Of runs that ask together the first ones get the shares, and those of others are not owned', async () => {
  await db.store.limits.set({ per_address: { runs: 2, rate: 9 } })
  const workerId = await joined(db.runStore)
  await submitted(db.store, {}, targets(6))
  const runs = await claimAll(db.store, db.runStore, workerId)
  const [stale, ...others] = runs
  if (!stale) throw new Error('nothing claimed')
  const ask = (run: ClaimedRun, lo: number): Promise<LimitShare> =>
    db.runStore.takeLimits(keyOf(run), [address(lo)])
  const lost = ask({ ...stale, attempt: 7 }, 1).catch(String)
  const shares = await Promise.all(others.map((run, n) => ask(run, n === 4 ? 2 : 1)))
  const reason = 'limit of address 1: 2 of 2 runs'
  expect(shares).toEqual([{ rate: 4 }, { rate: 4 }, { reason }, { reason }, { rate: 4 }])
  expect(await lost).toBe('Error: the run belongs to another worker')
  const held = await db.sql(`select run_id::int, rate from limit_uses where until = 'infinity' order by 1`)
  expect(held.rows).toEqual([0, 1, 4].map((n) => ({ run_id: others[n]?.runId, rate: 4 })))
})

test('Runs wait in order with their reason, others pass them, and newer runs do not', async () => {
  await db.store.limits.set({ per_address: { runs: 1 } })
  const workerId = await joined(db.runStore)
  await submitted(db.store, {}, targets(4))
  const [a, b, c, other] = await claimAll(db.store, db.runStore, workerId)
  if (!a || !b || !c || !other) throw new Error('nothing claimed')
  expect(await start(db.runStore, a, [address(1)])).toEqual({ rate: null })
  const reason = 'limit of address 1: 1 of 1 run'
  expect(await start(db.runStore, c, [address(1)])).toEqual({ reason })
  expect(await start(db.runStore, b, [address(1)])).toEqual({ reason })
  expect(await start(db.runStore, other, [address(2)])).toEqual({ rate: null })
  expect(await waitingReason(b.runId)).toBe(`waiting: ${reason}`)
  expect(await offered()).toEqual([])

  await db.runStore.finish([ended(a)])
  expect((await take(db.store)).map(({ runId }) => runId)).toEqual([b.runId])
  await submitted(db.store, {}, targets(1, 'new'))
  const [newer] = await claimAll(db.store, db.runStore, workerId)
  if (!newer) throw new Error('nothing claimed')
  expect(await start(db.runStore, newer, [address(1)])).toEqual({ reason })

  // The share is not kept for a run that no worker takes.
  await db.sql(`update limit_uses set until = now() - interval '1 s' where run_id = ${b.runId}`)
  expect(await db.store.limits.wake()).toBe(1)
  expect(await offered()).toEqual([c.runId])
  await db.store.limits.set({})
  expect(await offered()).toEqual([newer.runId])
})

test('Runs that are handed back at the same time are written by one statement for each reason', async () => {
  await submitted(db.store, {}, targets(9))
  const workerId = await joined(db.runStore)
  const runs = await claimAll(db.store, db.runStore, workerId)
  const later = new Date(Date.now() + 60_000)
  const reasons = [undefined, 'share', later] as const
  await Promise.all(runs.map((run, n) => db.runStore.handBack([keyOf(run)], reasons[n % 3])))
  const { rows } = await db.sql(
    `select count(*)::int as runs, count(distinct xmin::text)::int as statements from runs where status = 'queued'`,
  )
  expect(rows).toEqual([{ runs: 9, statements: 3 }])
  // Those without limits need not wait for a share.
  const waiting = runs.filter((_, n) => reasons[n % 3] === later).map(({ runId }) => runId)
  const ready = runs.map(({ runId }) => runId).filter((runId) => !waiting.includes(runId))
  expect((await offered()).toSorted((a, b) => a - b)).toEqual(ready.toSorted((a, b) => a - b))
})

test('The shares of a worker that is lost, and of a run that is cancelled, are free', async () => {
  await db.store.limits.set({ per_domain: { runs: 2 } })
  const lost = await joined(db.runStore)
  await submitted(db.store, {}, targets(4))
  const [a, b, c, d] = await claimAll(db.store, db.runStore, lost)
  if (!a || !b || !c || !d) throw new Error('nothing claimed')
  for (const run of [a, b]) expect(isGranted(await start(db.runStore, run, [domain('x')]))).toBe(true)
  for (const run of [c, d]) expect(isGranted(await start(db.runStore, run, [domain('x')]))).toBe(false)
  await db.sql(`select end_runs('[{"id": ${c.runId}, "status": "cancelled", "error": ""}]')`)
  await db.sql(`select requeue_runs(array[${a.runId}]::bigint[], 'the worker was lost')`)
  expect((await offered()).toSorted((x, y) => x - y)).toEqual([a.runId, d.runId])
  await db.sql(
    `select end_runs(jsonb_agg(jsonb_build_object('id', id, 'status', 'cancelled', 'error', ''))) from runs`,
  )
  expect((await db.sql('select from limit_uses')).rowCount).toBe(0)
})

test('A run that waits for its limit gives up the slot of its job, and gets one again before it is offered', async () => {
  await db.store.limits.set({ per_address: { runs: 1 } })
  const workerId = await joined(db.runStore)
  await submitted(db.store, {}, targets(1, 'holder'))
  const [holder] = await claimAll(db.store, db.runStore, workerId)
  const job = await submitted(db.store, { concurrency: 1 }, targets(4))
  const next = async (): Promise<ClaimedRun> => {
    const [run, more] = await claimAll(db.store, db.runStore, workerId)
    if (!run || more) throw new Error('one run should have been claimed')
    return run
  }
  if (!holder) throw new Error('nothing claimed')
  await start(db.runStore, holder, [address(1)])
  const a = await next()
  await start(db.runStore, a, [address(1)])
  const b = await next()
  await start(db.runStore, b, [address(1)])
  const c = await next()
  expect([a, b, c].map(({ runId }) => runId)).toEqual(job.runIds.slice(0, 3))
  expect(isGranted(await start(db.runStore, c, [address(2)]))).toBe(true)
  expect(await db.store.recovery.recountSlots(100)).toBe(0)
  expect(await db.store.jobs.changePriority(job.jobId, 'low', () => {})).toMatchObject({ changed: 3 })
  expect(await offered()).toEqual([])

  // Both could have the share now, and the job has no slot for them.
  await db.runStore.finish([ended(holder)])
  expect(await waitingReason(a.runId)).toBe('waiting for one of the 1 slots of its job')
  expect(await offered()).toEqual([])
  await db.runStore.finish([ended(c)])
  const again = await next()
  expect(again.runId).toBe(a.runId)
  expect(isGranted(await start(db.runStore, again, [address(1)]))).toBe(true)
  await db.runStore.finish([ended(again)])
  expect((await next()).runId).toBe(b.runId)
  expect(await db.store.recovery.recountSlots(100)).toBe(0)
})

test('The stricter limit of the farm and of scopes holds, each for its own runs', async () => {
  await db.store.limits.set({ per_address: { rate: 40, runs: 4 } })
  await db.store.scopes.add(
    { name: 'strict', allowed: ['*'], limits: { per_domain: { rate: 3 }, per_network: { runs: 9 } } },
    'test',
  )
  const scopeNo = (await db.store.scopes.book(undefined))?.scopes[0]?.id ?? 0
  const workerId = await joined(db.runStore)
  await submitted(db.store, { scopeNo }, targets(2))
  await submitted(db.store, {}, targets(4))
  const [a, b, ...free] = await claimAll(db.store, db.runStore, workerId)
  if (!a || !b) throw new Error('nothing claimed')
  expect((await db.runStore.boundary(keyOf(a))).limited).toEqual(['per_address', 'per_domain', 'per_network'])
  expect(await start(db.runStore, a, [address(5), domain('x')])).toEqual({ rate: 3 })
  expect(await start(db.runStore, b, [address(6), domain('x')])).toEqual({ reason: 'limit of x: 1 of 1 run' })
  const shares = await Promise.all(free.map((run) => start(db.runStore, run, [address(1, 9), domain('x')])))
  expect(shares.filter(isGranted)).toEqual([{ rate: 10 }, { rate: 10 }, { rate: 10 }])
  expect(shares.filter((share) => !isGranted(share))).toEqual([{ reason: 'limit of address 1: 4 of 4 runs' }])
})
