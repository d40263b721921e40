import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { bringUp, budget, cloudJob, infraDraft, machinesOf, request } from './cloud-fixtures.ts'
import { asSuperuser, testDatabase, type TestDatabase } from './database.ts'
import { ended, joined, keyOf, statusOf, submitted, targets, wipe } from './fixtures.ts'

let db: TestDatabase
let server: string
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())
beforeEach(async () => {
  await wipe(db.url)
  server = await joined(db.store.runStore, { kind: 'server' })
})
const claim = async (limit = 100) =>
  (await db.store.runStore.claimCloud(server, limit)).sort((a, b) => a.runId - b.runId)

describe('runs of a cloud job', () => {
  test('are bound to machines in turn, those of later chunks and jobs too', async () => {
    const { runIds, no, infraId } = await cloudJob(db.store, {
      runs: 5,
      infra: { instances: 3 },
      bind: false,
    })
    expect(await db.store.cloud.bindRuns(no, 2)).toBe(2)
    expect(await db.store.cloud.bindRuns(no, 100)).toBe(3)
    expect(await machinesOf(db.store, runIds)).toEqual(['1', '2', '3', '1', '2'])
    const more = await submitted(db.store, { runMode: 'cloud' }, targets(2), { cloud: { reuse: infraId } })
    expect(await db.store.cloud.bindRuns(no, 100)).toBe(2)
    expect(await machinesOf(db.store, more.runIds)).toEqual(['3', '1'])
    expect(await db.store.cloud.bindRuns(no, 100)).toBe(0)
  })
})

describe('claiming cloud runs', () => {
  test('gives each machine one run at a time', async () => {
    const { runIds } = await cloudJob(db.store, { runs: 5 })
    const first = await claim()
    expect(first.map((run) => run.runId)).toEqual(runIds.slice(0, 2))
    expect(first[0]).toMatchObject({ runMode: 'cloud', attempt: 1, epoch: 0 })
    expect(await claim()).toEqual([])
    await db.store.runStore.finish([ended(first[0] ?? { runId: 0, attempt: 0 })])
    expect((await claim()).map((run) => run.runId)).toEqual([runIds[2]])
  })
})
