import { beforeEach, expect, test } from '@jest/globals'
import { NO_WORK, type ClaimedRun } from '@scanfarm/contracts'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { openRunStore } from '../src/index.ts'
import { testDatabase } from './database.ts'
import { claimAll, ended, joined, statusOf, submitted, wipe } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(async () => {
  await wipe(db.url)
  await db.sql('truncate scan_scopes')
  await db.store.limits.set({ workflow_once: true })
})
const WORKED = { ...NO_WORK, worked: true }
const ONE = [{ target: 'host-0.test', workspace: 'shared' }]
const TWO = [...ONE, { target: 'host-1.test', workspace: 'shared' }]

const claimed = (workerId: string) => claimAll(db.store, db.runStore, workerId)
const idsOf = (runs: readonly ClaimedRun[]): number[] => runs.map(({ runId }) => runId)
const submit = async (changes: Parameters<typeof submitted>[1] = {}): Promise<number> => {
  const { runIds } = await submitted(db.store, changes, ONE)
  return runIds[0] ?? 0
}
/** A run that differs from the others in a param. */
let part = 0
const another = (changes: Parameters<typeof submitted>[1] = {}) =>
  submit({ params: { part: String((part += 1)) }, ...changes })

test('A run that ends clean ends identical runs that have waited since before it began', async () => {
  const workerId = await joined(db.runStore)
  const a = await submit()
  const { jobId, runIds } = await submitted(db.store, { priority: 'low' }, ONE)
  const b = runIds[0] ?? 0
  const differs = [
    await another(),
    await submit({ workflow: { hash: 'another', json: '{"name":"probe"}' } }),
    await submit({ runnerType: 'docker', dockerImage: 'image' }),
  ]
  const [first] = await claimed(workerId)
  expect(first?.runId).toBe(a)
  const late = await submit()
  if (first) await db.runStore.finish([ended(first, 'completed', { tally: WORKED })])
  expect(await db.store.runs.find(String(b))).toMatchObject({
    status: 'completed',
    outcome: 'clean',
    attempt: 0,
    facts: { joined: first?.runUuid },
  })
  expect(await db.store.jobs.status(jobId)).toMatchObject({ completed: 1, outcomes: { clean: 1 } })
  const events = await db.sql(`select count(*)::int as n from event_logs where topic = 'run.completed'`)
  expect(events.rows).toEqual([{ n: 2 }])
  for (const id of [...differs, late]) expect(await statusOf(db.store, id)).toBe('queued')
  expect((await claimed(workerId)).length).toBe(1)
})

test.each([
  ['failed', 0],
  ['completed', 1],
] as const)(
  'A run that is %s with %i failed steps leaves identical ones their turn',
  async (status, failedSteps) => {
    const tally = { ...WORKED, failedSteps }
    const workerId = await joined(db.runStore)
    const [, b] = [await submit(), await submit()]
    const [first] = await claimed(workerId)
    if (first) await db.runStore.finish([ended(first, status, { tally })])
    expect(idsOf(await claimed(workerId))).toEqual([b])
  },
)

test('A cancel of the run that works leaves an identical one of another job its turn', async () => {
  const workerId = await joined(db.runStore)
  const [, b] = [await submit(), await submit()]
  const [first] = await claimed(workerId)
  await db.sql(`update runs set cancel_requested_at = now() where id = ${first?.runId}`)
  if (first) await db.runStore.finish([ended(first, 'completed', { tally: WORKED })])
  expect(await statusOf(db.store, first?.runId ?? 0)).toBe('cancelled')
  expect(idsOf(await claimed(workerId))).toEqual([b])
})

test('A workflow works once at a time on a target, in order, and other workflows and targets pass it', async () => {
  const workerId = await joined(db.runStore)
  const [a, b, c] = [await another(), await another(), await another()]
  const [first, none] = await claimed(workerId)
  expect([first?.runId, none]).toEqual([a, undefined])
  const other = await another({ workflowName: 'another' })
  const { runIds } = await submitted(db.store, {}, TWO)
  expect(idsOf(await claimed(workerId))).toEqual([other, runIds[1]])
  const waiting = await db.store.runs.find(String(b))
  expect(waiting).toMatchObject({
    status: 'queued',
    attempt: 0,
    waiting_reason: `waiting: run ${first?.runUuid} of the same workflow works on its target`,
  })
  expect(await db.store.limits.wake()).toBe(0)
  if (first) await db.runStore.finish([ended(first)])
  const [second, more] = await claimed(workerId)
  expect([second?.runId, more]).toEqual([b, undefined])
  // What its worker loses is queued again, and the next one need not wait for it.
  await db.sql(`select requeue_runs(array[${b}]::bigint[], 'the worker was lost')`)
  expect(await db.store.limits.wake()).toBeGreaterThan(0)
  const [third] = await claimed(workerId)
  expect([b, c]).toContain(third?.runId)
  if (third) await db.runStore.finish([ended(third, 'failed')])
  const rest = await until(async () => {
    const [next] = await claimed(workerId)
    if (next) await db.runStore.finish([ended(next)])
    return (await statusOf(db.store, runIds[0] ?? 0)) === 'completed' ? next : undefined
  })
  expect(rest?.runId).toBe(runIds[0])
})

test('A run that waits for another has no slot of its job, and a cancel of the one that works lets it start', async () => {
  const workerId = await joined(db.runStore)
  const a = await another()
  await claimed(workerId)
  const job = await submitted(db.store, { concurrency: 1, params: { x: '1' } }, TWO)
  expect(await claimed(workerId)).toEqual([])
  const [next] = await claimed(workerId)
  expect(next?.runId).toBe(job.runIds[1])
  await db.sql(`select end_runs('[{"id": ${a}, "status": "cancelled", "error": ""}]')`)
  expect(await claimed(workerId)).toEqual([])
  if (next) await db.runStore.finish([ended(next)])
  expect(idsOf(await claimed(workerId))).toEqual([job.runIds[0]])
  expect(await db.store.recovery.recountSlots(100)).toBe(0)
})

test('It is a limit of the farm or of a scope, and runs that wait go on when it is removed', async () => {
  const workerId = await joined(db.runStore)
  await another()
  const waiting = await another()
  expect(await claimed(workerId)).toHaveLength(1)
  await db.store.limits.set({})
  expect(idsOf(await claimed(workerId))).toEqual([waiting])
  await db.store.scopes.add({ name: 'once', allowed: ['*'], limits: { workflow_once: true } }, 'test')
  const scopeNo = (await db.store.scopes.book(undefined))?.scopes[0]?.id ?? 0
  await another({ scopeNo })
  const free = await another()
  expect(idsOf(await claimed(workerId))).toEqual([free])
})

test('Batches of a loop work beside each other and beside the run of the loop', async () => {
  const workerId = await joined(db.runStore)
  const a = await another()
  await claimed(workerId)
  const b = await another()
  const c = await another()
  await db.sql(`update runs set batch = '{1,2}' where id in (${b}, ${c})`)
  expect(idsOf(await claimed(workerId))).toEqual([b, c])
  expect(await statusOf(db.store, a)).toBe('running')
})

test('Many workers never start two at once, and all of them end', async () => {
  const RUNS = 30
  const JOINING = 10
  for (let n = 0; n < RUNS; n += 1) await another()
  for (let n = 0; n < JOINING; n += 1) await submit()
  const open = async () => (await db.sql('select from runs where completed_at is null')).rowCount
  const stores = await Promise.all(
    Array.from({ length: 6 }, () => openRunStore({ url: db.url, poolSize: 1, applicationName: 'twins' })),
  )
  let working = 0
  let most = 0
  let done = 0
  const work = async (runStore: (typeof stores)[number]): Promise<void> => {
    const workerId = await joined(runStore)
    await until(
      async () => {
        const runs = await claimAll(db.store, runStore, workerId, { limit: 3 })
        for (const run of runs) {
          working += 1
          most = Math.max(most, working)
          await runStore.record([{ runId: run.runId, attempt: run.attempt, totalSteps: 1 }])
          working -= 1
          await runStore.finish([ended(run, 'completed', { tally: WORKED })])
          done += 1
        }
        return (await open()) === 0
      },
      { what: 'all runs have ended' },
    )
  }
  try {
    await Promise.all(stores.map(work))
  } finally {
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()))
  }
  expect(most).toBe(1)
  // An identical run that a claim has locked meanwhile works by itself.
  expect(done).toBeGreaterThan(RUNS)
  expect(done).toBeLessThan(RUNS + JOINING)
  const joins = await db.sql(
    `select from runs where status = 'completed' and outcome = 'clean' and facts ? 'joined'`,
  )
  expect(joins.rowCount).toBe(RUNS + JOINING - done)
})
