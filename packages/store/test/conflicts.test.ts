import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import type { ClaimedRun } from '@scanfarm/contracts'
import type pg from 'pg'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { openRunStore } from '../src/index.ts'
import { cloudJob } from './cloud-fixtures.ts'
import { asSuperuser, testDatabase } from './database.ts'
import { closedStep, ended, joined, keyOf, submitted, take, targets, wipe } from './fixtures.ts'

const db = forAllTests(() => testDatabase({ poolSize: 100 }))
beforeEach(() => wipe(db.url))

const shuffled = <T>(items: readonly T[]): T[] => items.toSorted(() => Math.random() - 0.5)
const deadlocks = () =>
  asSuperuser(async (client) => {
    await client.query('select pg_stat_force_next_flush()')
    const { rows } = await client.query<{ deadlocks: string }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    )
    return Number(rows[0]?.deadlocks)
  }, db.url)
const statusOf = async (id: number | undefined) => (await db.store.runs.find(String(id)))?.status

describe('batched statements', () => {
  test('Concurrent batches over the same runs in any order never deadlock', async () => {
    const before = await deadlocks()
    const { jobId } = await submitted(db.store, { concurrency: 150 }, targets(240))
    const options = { url: db.url, poolSize: 2, applicationName: 'side', secret: randomUUID() }
    const sides = await Promise.all(Array.from({ length: 4 }, () => openRunStore(options)))
    const [first] = sides
    if (first === undefined) throw new Error('no side')
    try {
      const workerId = await joined(first)
      const rows = await take(db.store)
      const runs = await first.claim(workerId, rows)
      expect(runs).toHaveLength(150)
      const record = (side: (typeof sides)[number]) =>
        side.record(shuffled(runs).map((run) => ({ ...keyOf(run), totalSteps: 3, steps: [closedStep(1)] })))
      const storm = async (side: (typeof sides)[number], part: ClaimedRun[]) => {
        for (let n = 0; n < 5; n++) await record(side)
        await Promise.all([
          record(side),
          side.finish(shuffled(part).map((run) => ended(run))),
          side.handBack(shuffled(runs.slice(100))),
          side.heartbeat(workerId, 1),
        ])
      }
      await Promise.all([
        ...sides.map((side, n) => storm(side, runs.slice(n * 25, (n + 1) * 25))),
        db.store.outbox.remove(shuffled(rows)),
        ...shuffled(runs.slice(0, 60)).map((run) => db.store.runs.requestCancel(run.runUuid)),
        ...Array.from({ length: 6 }, () => db.store.recovery.recountSlots(10)),
        ...Array.from({ length: 6 }, () => take(db.store, { limit: 20, staleMs: 0 })),
        ...Array.from({ length: 6 }, () => db.store.recovery.forceStaleCancels(0, 1_000)),
        db.store.jobs.requestCancel(jobId),
      ])
      expect(await db.store.jobs.status(jobId)).toMatchObject({ running: 0, pending: 0, total_runs: 240 })
    } finally {
      await Promise.all(sides.map((side) => side[Symbol.asyncDispose]()))
    }
    expect((await deadlocks()) - before).toBe(0)
  })

  test('Concurrent statements that end the same runs in different orders never deadlock', async () => {
    await submitted(db.store, {}, targets(300))
    const runs = await db.runStore.claim(await joined(db.runStore), await take(db.store))
    const before = await deadlocks()
    const endAll = () =>
      asSuperuser(async (client) => {
        const ends = shuffled(runs).map((run) => ({ id: run.runId, status: 'failed', error: '' }))
        const { rows } = await client.query<{ ended: string[] }>('select end_runs($1) as ended', [
          JSON.stringify(ends),
        ])
        return rows[0]?.ended.length ?? 0
      }, db.url)
    const counts = await Promise.all(Array.from({ length: 8 }, endAll))
    expect(counts.reduce((sum, count) => sum + count)).toBe(300)
    expect((await deadlocks()) - before).toBe(0)
  })

  test('A statement that Postgres aborts to end a deadlock is repeated until it succeeds', async () => {
    const before = await deadlocks()
    await submitted(db.store, {}, targets(3))
    const workerId = await joined(db.runStore)
    const [a, b, c] = (await db.runStore.claim(workerId, await take(db.store))).sort(
      (x, y) => x.runId - y.runId,
    )
    if (!a || !b || !c) throw new Error('nothing claimed')
    const lock = (client: pg.ClientBase, run: ClaimedRun) =>
      client.query(`select from runs where id = ${run.runId} for update`)
    await asSuperuser(async (holder) => {
      await asSuperuser(async (other) => {
        const waitFor = async (count: number) => {
          const waiting =
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
          await until(async () => (await holder.query(waiting)).rowCount === count)
        }
        // Postgres aborts the statement that waits last. So the store must wait for a lock of `other` after `other` has
        // begun to wait for a lock of the store. Until then, `holder` stops the store between the two locks.
        await other.query("set deadlock_timeout = '10min'; begin")
        await holder.query('begin')
        await lock(holder, b)
        await lock(other, c)
        const recording = db.runStore.record([a, b, c].map((run) => ({ ...keyOf(run), totalSteps: 5 })))
        await waitFor(1)
        const locking = lock(other, a)
        await waitFor(2)
        await holder.query('commit')
        await locking
        await other.query('commit')
        expect(await recording).toEqual([])
      }, db.url)
    }, db.url)
    await until(async () => (await deadlocks()) - before === 1)
    expect((await db.store.runs.find(a.runUuid))?.total_steps).toBe(5)
  })

  test('The loss of a machine waits for a run that is being ended, and the two never deadlock', async () => {
    const before = await deadlocks()
    const { runIds, instances } = await cloudJob(db.store, { runs: 2, infra: { instances: 1 } })
    const ended = JSON.stringify([{ id: runIds[0], status: 'cancelled', error: '' }])
    await asSuperuser(async (ending) => {
      await ending.query('begin')
      await ending.query('select from runs where id = $1 for update', [runIds[0]])
      const losing = db.store.cloud.loseInstance(instances[0]?.no ?? 0, 'gone')
      const waiting =
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
      await asSuperuser((watcher) => until(async () => (await watcher.query(waiting)).rowCount === 1), db.url)
      await ending.query('select end_runs($1::jsonb)', [ended])
      await ending.query('commit')
      expect(await losing).toEqual({ moved: 0 })
    }, db.url)
    expect((await deadlocks()) - before).toBe(0)
    expect(await statusOf(runIds[0])).toBe('cancelled')
    expect(await statusOf(runIds[1])).toBe('queued')
  })
})
