import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Priority } from '@scanfarm/contracts'
import { listen } from '@scanfarm/platform/postgres'
import { until } from '@scanfarm/testing'
import { cuttableWay } from './cut-off.ts'
import { asSuperuser, testDatabase, type TestDatabase } from './database.ts'
import { claimAll, ended, joined, keyOf, submitted, take, targets, wipe } from './fixtures.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())
beforeEach(() => wipe(db.url))
const sql = (text: string) => asSuperuser((client) => client.query(text), db.url)
const ids = (rows: readonly { runId: number }[]) => rows.map((row) => row.runId)

describe('taking from the outbox', () => {
  test('follows priority strictly, then age, over all classes', async () => {
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

  test('an urgent run submitted behind thousands is next', async () => {
    await submitted(db.store, { priority: 'low' }, targets(5_000))
    await take(db.store, { limit: 10 })
    const { runIds } = await submitted(db.store, { priority: 'critical' })
    expect(ids(await take(db.store, { limit: 1 }))).toEqual(runIds)
  })

  test('keeps to the limit and to the room of each priority', async () => {
    await submitted(db.store, { priority: 'high' }, targets(5))
    await submitted(db.store, { priority: 'low' }, targets(5))
    const rows = await take(db.store, { room: { critical: 0, high: 2, normal: 9, low: Infinity }, limit: 4 })
    expect(rows.map((row) => row.priority)).toEqual(['high', 'high', 'low', 'low'])
    expect(await take(db.store, { limit: 0 })).toEqual([])
  })

  test('leaves classes that no live worker serves', async () => {
    await submitted(db.store, { requirementClass: 'tool:nmap' }, targets(3))
    await submitted(db.store, { concurrency: 1 }, targets(2))
    expect(await take(db.store, { classes: [] })).toEqual([])
    expect(await take(db.store, { classes: [''] })).toHaveLength(1)
    expect(await db.store.outbox.classes()).toEqual([
      { requirementClass: '', ready: 1, waiting: 1 },
      { requirementClass: 'tool:nmap', ready: 3, waiting: 0 },
    ])
  })

  test('gives a row to one of several dispatchers', async () => {
    await submitted(db.store, {}, targets(300))
    const taken = await Promise.all(Array.from({ length: 8 }, () => take(db.store, { limit: 100 })))
    expect(ids(taken.flat())).toHaveLength(300)
    expect(new Set(ids(taken.flat())).size).toBe(300)
  })

  test('gives a row out again when its mark is stale, and not before', async () => {
    const { runIds } = await submitted(db.store)
    await take(db.store)
    expect(await take(db.store, { staleMs: 60_000 })).toEqual([])
    await sql("update outbox set sent_at = now() - interval '61 s'")
    expect(ids(await take(db.store, { staleMs: 60_000 }))).toEqual(runIds)
    expect(await take(db.store, { staleMs: 60_000 })).toEqual([])
  })

  test('a row that was sent goes, one that came back under a new epoch meanwhile stays', async () => {
    await submitted(db.store, {}, targets(2))
    const rows = await take(db.store)
    const [first] = await db.runStore.claim(await joined(db.runStore), rows.slice(0, 1))
    if (!first) throw new Error('nothing claimed')
    await db.runStore.handBack([keyOf(first)])
    const again = { runId: first.runId, epoch: 1, priority: 'normal', requirementClass: '' }
    await db.store.outbox.remove(rows)
    expect(await take(db.store)).toEqual([again])
    // Now it is marked as sent as well, by another dispatcher perhaps.
    await db.store.outbox.remove(rows)
    await sql("update outbox set sent_at = now() - interval '61 s'")
    expect(await take(db.store)).toEqual([again])
    await db.store.outbox.remove([])
  })

  test('a row that was put back and not sent yet stays, though a late dispatcher thinks that it sent it', async () => {
    const { runIds } = await submitted(db.store)
    const rows = await take(db.store)
    await db.store.outbox.remove(rows)
    await db.store.recovery.enqueueAgain(rows)
    await db.store.outbox.remove(rows)
    expect(ids(await take(db.store))).toEqual(runIds)
  })
})

describe('runs that the queue has lost', () => {
  test('are queued, distributed, old enough and not in the outbox', async () => {
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

  test('go into the outbox again under the same epoch, once, if they still wait', async () => {
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
  test('one notification comes for a job, for runs that come back, and for freed slots', async () => {
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

  test('the listener comes back after its connection was cut, and calls for what it missed', async () => {
    let notified = 0
    await using listening = await db.store.listen(() => notified++)
    expect(listening).toBeDefined()
    const before = notified
    await sql(`select pg_terminate_backend(pid) from pg_stat_activity
               where datname = current_database() and application_name like '%listener'`)
    await until(async () => notified > before)
    const reconnected = notified
    await submitted(db.store)
    await until(async () => notified > reconnected)
  })

  test('the listener can be closed while a database that does not answer keeps it waiting', async () => {
    await using way = await cuttableWay(db.url)
    const listening = await listen({ url: way.url, channels: {} })
    await way.silence()
    await listening[Symbol.asyncDispose]()
  })
})
