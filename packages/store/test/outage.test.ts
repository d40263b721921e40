import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { openRunStore, openStore } from '../src/index.ts'
import { cuttableWay } from './cut-off.ts'
import { testDatabase, type TestDatabase } from './database.ts'
import { closedStep, ended, joined, keyOf, submitted, take, targets, wipe } from './fixtures.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())
beforeEach(() => wipe(db.url))

describe('while the database is away', () => {
  test('the calls of a worker wait, and all get through when it is back', async () => {
    await using way = await cuttableWay(db.url)
    let retries = 0
    await using runStore = await openRunStore({
      url: way.url,
      poolSize: 2,
      applicationName: 'cut off',
      log: (message) => (retries += Number(message.includes('is retried'))),
    })
    await submitted(db.store, {}, targets(3))
    const rows = await take(db.store)
    const workerId = await joined(runStore)
    const [a, b] = await runStore.claim(workerId, rows.slice(0, 2))
    if (!a || !b) throw new Error('nothing claimed')

    await way.cut()
    const calls = Promise.all([
      runStore.record([{ ...keyOf(a), totalSteps: 2, steps: [closedStep(1)] }]),
      runStore.finish([ended(b)]),
      runStore.claim(workerId, rows.slice(2)),
      runStore.heartbeat(workerId, 2),
    ])
    await until(async () => retries >= 8)
    await way.restore()
    const [lost, refused, claimed, beat] = await calls
    expect([lost, refused, claimed.length, beat.known]).toEqual([[], [], 1, true])
    expect(await db.store.runs.find(b.runUuid)).toMatchObject({ status: 'completed' })
  })

  test('a connection that breaks in the middle costs nothing', async () => {
    await using way = await cuttableWay(db.url)
    await using runStore = await openRunStore({ url: way.url, poolSize: 2, applicationName: 'shaky' })
    await submitted(db.store, {}, targets(120))
    const workerId = await joined(runStore)
    const runs = await runStore.claim(workerId, await take(db.store))
    const working = Promise.all(
      runs.map(async (run) => {
        await runStore.record([{ ...keyOf(run), totalSteps: 1, steps: [closedStep(1)] }])
        return runStore.finish([ended(run)])
      }),
    )
    for (let n = 0; n < 3; n++) {
      await way.cut()
      await way.restore()
    }
    expect((await working).flat()).toEqual([])
    expect((await db.store.runs.list({ status: 'completed' }, { offset: 0, limit: 1 })).total).toBe(
      runs.length,
    )
    const ends = await db.store.events.list({ topic: 'run.completed' }, { offset: 0, limit: 1 })
    expect(ends.total).toBe(runs.length)
  })

  test('calls give up after the time they were given', async () => {
    await using way = await cuttableWay(db.url)
    await way.cut()
    await using runStore = await openRunStore({
      url: way.url,
      poolSize: 2,
      applicationName: 'short',
      outageMs: 200,
    })
    await expect(runStore.heartbeat('w', 0)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('closing ends what still waits', async () => {
    await using way = await cuttableWay(db.url)
    await way.cut()
    const runStore = await openRunStore({ url: way.url, poolSize: 2, applicationName: 'closing' })
    const waiting = runStore.heartbeat('w', 0).catch((error: unknown) => String(error))
    await runStore[Symbol.asyncDispose]()
    expect(await waiting).toBe('Error: the run store is closed')
  })

  test('a master refuses at once, and serves again without being told', async () => {
    await using way = await cuttableWay(db.url)
    await using store = await openStore({ url: way.url, poolSize: 2, applicationName: 'master' })
    await store.check()
    await way.cut()
    await expect(store.runs.find('1')).rejects.toMatchObject({ code: 'unavailable' })
    await way.restore()
    expect(await store.runs.find('1')).toBeUndefined()
  })
})
