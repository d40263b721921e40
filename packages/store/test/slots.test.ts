import { beforeEach, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { ClaimedRun } from '@scanfarm/contracts'
import { testDatabase } from './database.ts'
import { claimAll, ended, joined, keyOf, statusOf, submitted, take, targets, wipe } from './fixtures.ts'

const db = forAllTests(testDatabase)
let workerId: string
beforeEach(async () => {
  await wipe(db.url)
  workerId = await joined(db.runStore)
})
/** A job of `count` runs with two slots, both running. */
const twoRunning = async (count = 5): Promise<{ runIds: number[]; a: ClaimedRun; b: ClaimedRun }> => {
  const { runIds } = await submitted(db.store, { concurrency: 2 }, targets(count))
  const [a, b, more] = await claimAll(db.store, db.runStore, workerId)
  if (!a || !b || more) throw new Error('two runs should have been claimed')
  return { runIds, a, b }
}
const nextIds = async (): Promise<number[]> => (await take(db.store)).map((row) => row.runId)

describe('a slot of a job', () => {
  test('The slot of a run that completes passes to the next run', async () => {
    const { runIds, a } = await twoRunning()
    expect(await nextIds()).toEqual([])
    await db.runStore.finish([ended(a)])
    expect(await nextIds()).toEqual([runIds[2]])
  })

  test('The slot of a run that fails or is cancelled by its worker passes to the next run', async () => {
    const { runIds, a, b } = await twoRunning()
    await db.runStore.finish([ended(a, 'failed'), ended(b, 'cancelled')])
    expect(await nextIds()).toEqual([runIds[2], runIds[3]])
  })

  test('The slot of a run whose cancel is forced passes to the next run', async () => {
    const { runIds, a } = await twoRunning()
    await db.store.runs.requestCancel(a.runUuid)
    expect(await db.store.runs.forceCancel(a.runId, 0)).toBe(true)
    expect(await nextIds()).toEqual([runIds[2]])
  })

  test('The slot of a run that is cancelled before a worker claims it passes to the next run', async () => {
    const { runIds } = await submitted(db.store, { concurrency: 1 }, targets(3))
    await db.store.runs.requestCancel(String(runIds[0]))
    expect(await nextIds()).toEqual([runIds[1]])
  })

  test('The end of a run without a slot frees none', async () => {
    const { runIds } = await twoRunning()
    await db.store.runs.requestCancel(String(runIds[3]))
    expect(await nextIds()).toEqual([])
  })

  test.each([
    ['is handed back', (run: ClaimedRun) => db.runStore.handBack([keyOf(run)])],
    [
      'is queued again after its worker was lost',
      (run: ClaimedRun) =>
        db.sql(`select requeue_runs(array[${run.runId}]::bigint[], 'the worker was lost')`),
    ],
  ])('A run that %s keeps its slot until it ends', async (_how, lose) => {
    const { runIds, a } = await twoRunning()
    await lose(a)
    expect(await db.store.recovery.recountSlots(100)).toBe(0)
    const [again, more] = await claimAll(db.store, db.runStore, workerId)
    expect([again?.runId, more]).toEqual([a.runId, undefined])
    if (again) await db.runStore.finish([ended(again)])
    expect(await nextIds()).toEqual([runIds[2]])
  })

  test('The slot of a run that the reaper ends passes to the next run', async () => {
    const { runIds, a, b } = await twoRunning()
    // One statement, so that there is no gap between the turns of the reaper.
    await db.sql(
      `update farm set reaper_turn_at = now(), reaper_hold_until = now();
       update workers set lease_until = now() - interval '1 s';
       update runs set crashes = 2 where id = ${a.runId};
       select reap_runs(3, 2, 1, 100)`,
    )
    expect(await statusOf(db.store, a.runId)).toBe('failed')
    expect(await statusOf(db.store, b.runId)).toBe('queued')
    expect(await nextIds()).toEqual([b.runId, runIds[2]])
  })

  test('No slot is passed on twice when runs end concurrently', async () => {
    const { jobId } = await submitted(db.store, { concurrency: 8 }, targets(120))
    const other = await submitted(db.store, { concurrency: 3, priority: 'high' }, targets(30))
    let most = 0
    for (;;) {
      const claimed = await claimAll(db.store, db.runStore, workerId)
      if (claimed.length === 0) break
      const status = await db.store.jobs.status(jobId)
      most = Math.max(most, status?.running ?? 0)
      const ends = claimed.map((run, n) =>
        n % 3 === 0
          ? db.store.runs.requestCancel(run.runUuid).then(() => db.store.runs.forceCancel(run.runId, 0))
          : n % 3 === 1
            ? db.runStore.finish([ended(run, 'failed')])
            : db.runStore.finish([ended(run)]),
      )
      await Promise.all([...ends, db.store.recovery.recountSlots(100)])
    }
    expect(most).toBe(8)
    for (const job of [jobId, other.jobId]) {
      expect(await db.store.jobs.status(job)).toMatchObject({ pending: 0, running: 0 })
    }
    expect((await db.sql('select * from slots')).rows).toEqual([])
  })

  test('A job without free slots does not delay another job', async () => {
    await twoRunning()
    const other = await submitted(db.store, { priority: 'low' }, targets(2))
    expect(await nextIds()).toEqual(other.runIds)
  })
})

describe('recounting', () => {
  test('A recount repairs nothing when slots and runs agree', async () => {
    const { a } = await twoRunning()
    await db.runStore.finish([ended(a)])
    expect(await db.store.recovery.recountSlots(100)).toBe(0)
  })

  test('A recount passes a missing slot to the next run', async () => {
    const { runIds, a } = await twoRunning()
    await db.sql(`delete from slots where run_id = ${a.runId}; update runs set status = 'completed', completed_at = now()
               where id = ${a.runId}`)
    expect(await db.store.recovery.recountSlots(100)).toBe(1)
    expect(await nextIds()).toEqual([runIds[2]])
  })

  test('A recount takes the slot from a run that has ended', async () => {
    const { runIds, a } = await twoRunning()
    await db.sql(`update runs set status = 'completed', completed_at = now() where id = ${a.runId}`)
    expect(await db.store.recovery.recountSlots(100)).toBe(2)
    expect(await nextIds()).toEqual([runIds[2]])
  })

  test('A recount makes unsent runs beyond the concurrency limit wait again', async () => {
    const { runIds } = await submitted(db.store, { concurrency: 1 }, targets(4))
    await db.sql('update outbox set ready = true')
    expect(await db.store.recovery.recountSlots(100)).toBe(3 + 3)
    expect(await nextIds()).toEqual([runIds[0]])
    expect(await db.store.recovery.recountSlots(100)).toBe(0)
  })
})
