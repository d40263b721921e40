import { beforeEach, describe, expect, test } from '@jest/globals'
import type { Priority } from '@scanfarm/contracts'
import { listen } from '@scanfarm/platform/postgres'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { cuttableProxy } from './cuttable-proxy.ts'
import { testDatabase } from './database.ts'
import { claimAll, draft, ended, joined, keyOf, submitted, take, targets, wipe } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(() => wipe(db.url))
const ids = (rows: readonly { runId: number }[]) => rows.map((row) => row.runId)

describe('taking from the outbox', () => {
  test('Rows are taken strictly by priority, then by age, across all classes', async () => {
    const submit = async (priority: Priority, requirementClass: string) =>
      (await submitted(db.store, { priority, requirementClass }, targets(2))).runIds
    const low = await submit('low', '')
    const normalDocker = await submit('normal', 'docker')
    const normal = await submit('normal', '')
    const high = await submit('high', 'docker')
    const critical = await submit('critical', '')
    const rows = await take(db.store, { classes: ['', 'docker'] })
    expect(ids(rows)).toEqual([...critical, ...high, ...normalDocker, ...normal, ...low])
    expect(rows.map((row) => row.priority).join(' ')).toBe(
      'critical critical high high normal normal normal normal low low',
    )
    expect(rows[2]).toMatchObject({ requirementClass: 'docker', epoch: 0 })
  })

  test('A job gets its part of a batch, by the share of its owner, whatever was submitted before it', async () => {
    const large = await submitted(db.store, { submittedBy: 'token:a' }, targets(500))
    const small = await submitted(db.store, { submittedBy: 'token:a' }, targets(3))
    await db.sql("insert into shares values ('token:b', 3)")
    const other = await submitted(db.store, { submittedBy: 'token:b' }, targets(500))
    const rows = await take(db.store, { limit: 80 })
    const count = ({ runIds }: typeof large) => rows.filter(({ runId }) => runIds.includes(runId)).length
    expect(rows).toHaveLength(80)
    expect(count(small)).toBe(3)
    expect(Math.abs(count(other) - 62)).toBeLessThan(5)
    expect(rows.at(-1)?.share).toMatchObject({ owner: 'token:b', weight: 3 })
    // With capacity for one row only, none of the jobs waits for the end of another.
    const next = await submitted(db.store, { submittedBy: 'token:c' })
    for (let taken: number[] = []; !taken.includes(next.runIds[0] ?? 0);)
      taken = ids(await take(db.store, { limit: 1 }))
    expect((await take(db.store)).length).toBeGreaterThan(800)
  })

  test('An urgent run that is submitted after thousands of others is next', async () => {
    await submitted(db.store, { priority: 'low' }, targets(5_000))
    await take(db.store, { limit: 10 })
    const { runIds } = await submitted(db.store, { priority: 'critical' })
    expect(ids(await take(db.store, { limit: 1 }))).toEqual(runIds)
  })

  test('No more rows are taken than the limit and the capacity of each priority allow', async () => {
    await submitted(db.store, { priority: 'high' }, targets(5))
    await submitted(db.store, { priority: 'low' }, targets(5))
    const rows = await take(db.store, {
      capacity: { critical: 0, high: 2, normal: 9, low: Infinity },
      limit: 4,
    })
    expect(rows.map((row) => row.priority)).toEqual(['high', 'high', 'low', 'low'])
    expect(await take(db.store, { limit: 0 })).toEqual([])
  })

  test('A row that a claim has put back since it was sent is not removed, and is sent again', async () => {
    const { runIds } = await submitted(db.store, {}, targets(2))
    const rows = await take(db.store)
    await db.sql(`select delay_runs('{${runIds[0]}}', interval '11 s')`)
    await db.store.outbox.remove(rows)
    const again = await take(db.store, { staleMs: 10_000 })
    expect(ids(again)).toEqual([runIds[0]])
    await db.store.outbox.remove(again)
    expect(await db.store.outbox.classes()).toEqual([])
  })

  test('Rows of classes that no live worker serves are not taken', async () => {
    await submitted(db.store, { requirementClass: 'tool:nmap' }, targets(3))
    await submitted(db.store, { concurrency: 1 }, targets(2))
    expect(await take(db.store, { classes: [] })).toEqual([])
    expect(await take(db.store, { classes: [''] })).toHaveLength(1)
    expect(await db.store.outbox.classes()).toEqual([
      { requirementClass: '', ready: 1, waiting: 1 },
      { requirementClass: 'tool:nmap', ready: 3, waiting: 0 },
    ])
  })

  test('Each row is taken by one of several dispatchers', async () => {
    await submitted(db.store, {}, targets(300))
    const taken = await Promise.all(Array.from({ length: 8 }, () => take(db.store, { limit: 100 })))
    expect(ids(taken.flat())).toHaveLength(300)
    expect(new Set(ids(taken.flat())).size).toBe(300)
  })

  test('A submit stores as sent what it may send itself: little while others wait, nothing while more urgent ones do', async () => {
    const send = async (count: number, changes: Parameters<typeof draft>[0] = {}, most = 3) => {
      const answer = await db.store.jobs.submit(draft(changes), targets(count), { send: most })
      return 'sent' in answer ? answer.sent.length : undefined
    }
    expect(await send(2)).toBe(2)
    expect(await send(5, { concurrency: 2 })).toBe(2)
    expect(await send(1, { runMode: 'local' })).toBe(0)
    expect(await take(db.store)).toEqual([])
    expect(await send(5)).toBe(3)
    expect(await send(1)).toBe(1)
    expect(await send(150, {}, 150)).toBe(100)
    expect(await send(1, { priority: 'low' })).toBe(0)
    expect(await send(1, { priority: 'high' })).toBe(1)
    expect(await send(1, { requirementClass: 'docker' })).toBe(1)
  })

  test('A row is taken again when its mark is stale, and not before', async () => {
    const { runIds } = await submitted(db.store)
    await take(db.store)
    expect(await take(db.store, { staleMs: 60_000 })).toEqual([])
    await db.sql("update outbox set sent_at = now() - interval '61 s'")
    expect(ids(await take(db.store, { staleMs: 60_000 }))).toEqual(runIds)
    expect(await take(db.store, { staleMs: 60_000 })).toEqual([])
  })

  test('A sent row is deleted, unless its run was queued again under a new epoch meanwhile', async () => {
    await submitted(db.store, {}, targets(2))
    const rows = await take(db.store)
    const [first] = await db.runStore.claim(await joined(db.runStore), rows.slice(0, 1))
    if (!first) throw new Error('nothing claimed')
    await db.runStore.handBack([keyOf(first)])
    const again = { ...rows[0], epoch: 1 }
    await db.store.outbox.remove(rows)
    expect(await take(db.store)).toEqual([again])
    // The row of the new epoch is marked as sent too, as another dispatcher may have done.
    await db.store.outbox.remove(rows)
    await db.sql("update outbox set sent_at = now() - interval '61 s'")
    expect(await take(db.store)).toEqual([again])
    await db.store.outbox.remove([])
  })

  test('A row that was put back stays when a late dispatcher removes its earlier copy', async () => {
    const { runIds } = await submitted(db.store)
    const rows = await take(db.store)
    await db.store.outbox.remove(rows)
    await db.store.recovery.enqueueAgain(rows)
    await db.store.outbox.remove(rows)
    expect(ids(await take(db.store))).toEqual(runIds)
  })
})

describe('runs that the queue has lost', () => {
  test('A run counts as lost by the queue if it is queued, distributed, old enough and not in the outbox', async () => {
    const { runIds } = await submitted(db.store, { requirementClass: 'docker', priority: 'high' }, targets(4))
    await submitted(db.store, { runMode: 'local' })
    await submitted(db.store, {}, targets(1), { start: false })
    await db.store.outbox.remove(await take(db.store, { classes: ['docker'], limit: 3 }))
    const workerId = await joined(db.runStore)
    await db.runStore.claim(workerId, [{ runId: runIds[0] ?? 0, epoch: 0 }])

    const outside = (after = 0, olderThanMs = 0, limit = 10) =>
      db.store.recovery.queuedOutside({ after, limit, olderThanMs })
    expect(await outside()).toEqual([
      { runId: runIds[1], epoch: 0, priority: 'high', requirementClass: 'docker' },
      { runId: runIds[2], epoch: 0, priority: 'high', requirementClass: 'docker' },
    ])
    expect(ids(await outside(runIds[1]))).toEqual([runIds[2]])
    expect(ids(await outside(0, 0, 1))).toEqual([runIds[1]])
    expect(await outside(0, 60_000)).toEqual([])
  })

  test('A lost run is put into the outbox once, under the same epoch, if it is still waiting', async () => {
    const { runIds } = await submitted(db.store, {}, targets(3))
    const rows = await take(db.store)
    await db.store.outbox.remove(rows)
    const workerId = await joined(db.runStore)
    const claimed = await db.runStore.claim(workerId, rows.slice(0, 1))
    expect(claimed).toHaveLength(1)
    const counts = await Promise.all([
      db.store.recovery.enqueueAgain(rows),
      db.store.recovery.enqueueAgain(rows),
      db.store.recovery.enqueueAgain([{ runId: runIds[1] ?? 0, epoch: 7 }]),
    ])
    expect(counts.reduce((sum, count) => sum + count)).toBe(2)
    expect(ids(await take(db.store))).toEqual(runIds.slice(1))
  })
})

describe('notifications of masters', () => {
  test('A new job, a handed back run and a freed slot each send one notification', async () => {
    let notified = 0
    await using listening = await db.store.listen(() => notified++)
    expect(listening).toBeDefined()
    const after = async (work: () => Promise<unknown>) => {
      const before = notified
      await work()
      await until(async () => notified > before)
      return notified - before
    }
    expect(await after(() => submitted(db.store, { concurrency: 1 }, targets(100)))).toBe(1)
    const workerId = await joined(db.runStore)
    const [run] = await claimAll(db.store, db.runStore, workerId)
    if (!run) throw new Error('nothing claimed')
    expect(await after(() => db.runStore.handBack([keyOf(run)]))).toBe(1)
    const [again] = await claimAll(db.store, db.runStore, workerId)
    if (!again) throw new Error('nothing claimed')
    expect(await after(() => db.runStore.finish([ended(again)]))).toBe(1)
  })

  test('The listener reconnects after a loss of its connection and notifies once for what it missed', async () => {
    let notified = 0
    await using listening = await db.store.listen(() => notified++)
    expect(listening).toBeDefined()
    const before = notified
    await db.sql(`select pg_terminate_backend(pid) from pg_stat_activity
               where datname = current_database() and application_name like '%listener'`)
    await until(async () => notified > before)
    const reconnected = notified
    await submitted(db.store)
    await until(async () => notified > reconnected)
  })

  test('The listener can be closed while it waits for a database that does not respond', async () => {
    await using proxy = await cuttableProxy(db.url)
    const listening = await listen({ url: proxy.url, channels: {} })
    await proxy.silence()
    await listening[Symbol.asyncDispose]()
  })
})
