import { beforeEach, describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { openRunStore, openStore } from '../src/index.ts'
import { cuttableProxy } from './cuttable-proxy.ts'
import { testDatabase } from './database.ts'
import { closedStep, ended, joined, keyOf, submitted, take, targets, wipe } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(() => wipe(db.url))

describe('an outage of the database', () => {
  test('The calls of a worker wait during an outage and succeed after it', async () => {
    await using proxy = await cuttableProxy(db.url)
    let retries = 0
    await using runStore = await openRunStore({
      url: proxy.url,
      poolSize: 2,
      applicationName: 'cut off',
      log: (message) => (retries += Number(message.includes('is retried'))),
    })
    await submitted(db.store, {}, targets(3))
    const rows = await take(db.store)
    const workerId = await joined(runStore)
    const [a, b] = await runStore.claim(workerId, rows.slice(0, 2))
    if (!a || !b) throw new Error('nothing claimed')

    await proxy.cut()
    const calls = Promise.all([
      runStore.record([{ ...keyOf(a), totalSteps: 2, steps: [closedStep(1)] }]),
      runStore.finish([ended(b)]),
      runStore.claim(workerId, rows.slice(2)),
      runStore.heartbeat(workerId, 2),
    ])
    await until(async () => retries >= 8)
    await proxy.restore()
    const [lost, refused, claimed, beat] = await calls
    expect([lost, refused, claimed.length, beat.known]).toEqual([[], [], 1, true])
    expect(await db.store.runs.find(b.runUuid)).toMatchObject({ status: 'completed' })
  })

  test('Broken connections lose no write and repeat none', async () => {
    await using proxy = await cuttableProxy(db.url)
    await using runStore = await openRunStore({ url: proxy.url, poolSize: 2, applicationName: 'shaky' })
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
      await proxy.cut()
      await proxy.restore()
    }
    expect((await working).flat()).toEqual([])
    expect((await db.store.runs.list({ status: 'completed' }, { offset: 0, limit: 1 })).total).toBe(
      runs.length,
    )
    const ends = await db.store.events.list({ topic: 'run.completed' }, { offset: 0, limit: 1 })
    expect(ends.total).toBe(runs.length)
  })

  test('A call of a worker fails when the outage exceeds its time limit', async () => {
    await using proxy = await cuttableProxy(db.url)
    await proxy.cut()
    await using runStore = await openRunStore({
      url: proxy.url,
      poolSize: 2,
      applicationName: 'short',
      outageMs: 200,
    })
    await expect(runStore.heartbeat('w', 0)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('Closing the store ends the calls that wait', async () => {
    await using proxy = await cuttableProxy(db.url)
    await proxy.cut()
    const runStore = await openRunStore({ url: proxy.url, poolSize: 2, applicationName: 'closing' })
    const waiting = runStore.heartbeat('w', 0).catch((error: unknown) => String(error))
    await runStore[Symbol.asyncDispose]()
    expect(await waiting).toBe('Error: the run store is closed')
  })

  test('A master refuses calls at once during an outage and serves them again after it', async () => {
    await using proxy = await cuttableProxy(db.url)
    await using store = await openStore({ url: proxy.url, poolSize: 2, applicationName: 'master' })
    await store.check()
    await proxy.cut()
    await expect(store.runs.find('1')).rejects.toMatchObject({ code: 'unavailable' })
    await proxy.restore()
    expect(await store.runs.find('1')).toBeUndefined()
  })
})
