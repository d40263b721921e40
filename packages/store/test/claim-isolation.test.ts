import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { openRunStore, type WorkerStore } from '../src/index.ts'
import { testDatabase, type TestDatabase } from './database.ts'
import { claimAll, joined, statusOf, submitted, take, targets, wipe } from './fixtures.ts'

const TIMEOUT_MS = 1_000

let db: TestDatabase
let hasty: WorkerStore
beforeAll(async () => {
  db = await testDatabase()
  hasty = await openRunStore({
    url: db.url,
    poolSize: 2,
    applicationName: 'hasty',
    statementTimeoutMs: TIMEOUT_MS,
  })
})
afterAll(async () => {
  await hasty[Symbol.asyncDispose]()
  await db[Symbol.asyncDispose]()
})
beforeEach(() => wipe(db.url))

/** Runs of this target execute `body` in every statement that starts them. */
const poison = (body: string) =>
  db.sql(`
    create or replace function poison() returns trigger language plpgsql as $$ begin ${body} return new; end $$;
    create or replace trigger poison before update on runs for each row
    when (new.target = 'poison' and new.status = 'running') execute function poison()`)
/** Ends the delay of runs that were deferred. */
const later = () => db.sql(`update outbox set sent_at = now() - interval '1 minute'`)
const POISON = [{ target: 'poison', workspace: 'poison' }]

describe('claiming', () => {
  test('The time of a claim grows linearly with the size of the params', async () => {
    const timeOf = async (count: number): Promise<number> => {
      const params = Object.fromEntries(Array.from({ length: count }, (_, n) => [`param_${n}`, 'x']))
      await submitted(db.store, { params })
      const rows = await take(db.store)
      const workerId = await joined(db.runStore)
      const start = performance.now()
      const [run] = await db.runStore.claim(workerId, rows)
      const ms = performance.now() - start
      expect(Object.keys(run?.params ?? {})).toHaveLength(count)
      return ms
    }
    // The shortest of several counts: the machine may have other work.
    const best = async (count: number) =>
      Math.min(await timeOf(count), await timeOf(count), await timeOf(count))
    const small = await best(10_000)
    // Quadratic time would be 64 times as long.
    expect(await best(80_000)).toBeLessThan(Math.max(small, 20) * 32)
  })

  test.each([
    ['that cannot be written', `raise exception 'no such row';`],
    ['that takes too long', `perform pg_sleep(60);`],
  ])('A run %s is deferred, and fails when other runs can be claimed', async (_title, body) => {
    await poison(body)
    const before = await submitted(db.store, {}, targets(2))
    const bad = await submitted(db.store, {}, POISON)
    const after = await submitted(db.store, {}, targets(2, 'late'))
    const workerId = await joined(hasty)
    const given = await claimAll(db.store, hasty, workerId)
    expect(given.map(({ runId }) => runId).sort((a, b) => a - b)).toEqual([...before.runIds, ...after.runIds])
    const [badId = 0] = bad.runIds
    // The first failure may have another cause than the run.
    expect(await statusOf(db.store, badId)).toBe('queued')
    expect(await take(db.store, { staleMs: 5_000 })).toEqual([])
    await later()
    await submitted(db.store, {}, targets(1, 'later'))
    expect(await claimAll(db.store, hasty, workerId)).toHaveLength(1)
    await later()
    expect(await claimAll(db.store, hasty, workerId)).toEqual([])
    const run = await db.store.runs.find(String(badId))
    expect(run).toMatchObject({ status: 'failed', attempt: 0 })
    expect(run?.error_message).toMatch(/^quarantined: no worker could take it, while others were taken: /)
    const { data } = await db.store.events.list({ topic: 'run.failed' }, { offset: 0, limit: 5 })
    expect(data).toMatchObject([{ run_id: run?.run_uuid }])
  })

  test.each([
    ['that cannot be written', `raise exception 'no such row';`],
    ['that takes too long', `perform pg_sleep(60);`],
  ])('A local run %s does not delay the others', async (_title, body) => {
    await poison(body)
    const bad = await submitted(db.store, { runMode: 'local', priority: 'critical' }, POISON)
    const { runIds } = await submitted(db.store, { runMode: 'local' }, targets(3))
    const workerId = await joined(hasty, { kind: 'server' })
    const given: number[] = []
    for (let turn = 0; turn < 3 && given.length < 3; turn++)
      given.push(...(await hasty.claimLocal(workerId, 10)).map(({ runId }) => runId))
    expect(given.sort((a, b) => a - b)).toEqual(runIds)
    await later()
    expect(await hasty.claimLocal(workerId, 10)).toEqual([])
    expect(await statusOf(db.store, bad.runIds[0] ?? 0)).toBe('failed')
  })

  test('No run fails when none can be claimed', async () => {
    await poison(`raise exception 'the table is broken';`)
    const { runIds } = await submitted(db.store, {}, [...POISON, { target: 'poison', workspace: 'other' }])
    const workerId = await joined(db.runStore)
    for (let turn = 0; turn < 3; turn++) {
      await later()
      expect(await claimAll(db.store, db.runStore, workerId)).toEqual([])
    }
    for (const id of runIds) expect(await statusOf(db.store, id)).toBe('queued')
    await db.sql('drop trigger poison on runs')
    await later()
    expect(await claimAll(db.store, db.runStore, workerId)).toHaveLength(2)
  })
})
