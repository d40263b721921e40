import { beforeEach, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testDatabase } from './database.ts'
import {
  claimAll,
  ended,
  joined,
  keyOf,
  runningOf,
  statusOf,
  step,
  submitted,
  take,
  targets,
  wipe,
} from './fixtures.ts'

const db = forAllTests(() => testDatabase({ poolSize: 100 }))
let workerId: string
beforeEach(async () => {
  await wipe(db.url)
  workerId = await joined(db.runStore)
})

const running = () => runningOf(db.store, db.runStore, workerId)

describe('cancelling a run', () => {
  test('A queued run is cancelled at once, and its message claims nothing', async () => {
    const { runIds } = await submitted(db.store)
    const tickets = await take(db.store)
    const answer = await db.store.runs.requestCancel(String(runIds[0]))
    expect(answer).toMatchObject({ id: runIds[0], status: 'cancelled', was: 'queued' })
    expect(await db.runStore.claim(workerId, tickets)).toEqual([])
    expect(await take(db.store, { staleMs: 0 })).toEqual([])
    expect(await db.store.runs.find(String(runIds[0]))).toMatchObject({
      status: 'cancelled',
      error_message: 'cancelled on request',
    })
  })

  test('A pending run is cancelled at once', async () => {
    const { runIds } = await submitted(db.store, {}, targets(1), { start: false })
    expect(await db.store.runs.requestCancel(String(runIds[0]))).toMatchObject({
      status: 'cancelled',
      was: 'pending',
    })
    expect(await db.store.runs.start(String(runIds[0]))).toMatchObject({ started: false })
  })

  test('The cancel of a running run is recorded as a request', async () => {
    const run = await running()
    expect(await db.store.runs.requestCancel(run.runUuid)).toEqual({
      id: run.runId,
      runUuid: run.runUuid,
      status: 'running',
      was: 'running',
    })
    expect(await statusOf(db.store, run.runId)).toBe('running')
  })

  test('The cancel of an ended run changes nothing', async () => {
    const run = await running()
    await db.runStore.finish([ended(run)])
    expect(await db.store.runs.requestCancel(run.runUuid)).toMatchObject({
      status: 'completed',
      was: 'completed',
    })
    expect(await db.store.runs.forceCancel(run.runId, 0)).toBe(false)
    expect(await statusOf(db.store, run.runId)).toBe('completed')
  })

  test('The cancel of an unknown run returns undefined', async () => {
    for (const ref of ['987654321', '00000000-0000-4000-8000-000000000000', 'nonsense', '-1', '1e3', '\0']) {
      expect(await db.store.runs.requestCancel(ref)).toBeUndefined()
      expect(await db.store.runs.find(ref)).toBeUndefined()
      expect(await db.store.runs.steps(ref)).toBeUndefined()
      expect(await db.store.runs.artifacts(ref)).toBeUndefined()
    }
  })
})

describe('cancel against finish', () => {
  test.each(['completed', 'failed'] as const)(
    'A run with a cancel request that finishes as %s is cancelled',
    async (status) => {
      const run = await running()
      await db.store.runs.requestCancel(run.runUuid)
      expect(await db.runStore.finish([{ ...ended(run, status), killedPids: [42] }])).toEqual([])
      expect(await db.store.runs.find(run.runUuid)).toMatchObject({
        status: 'cancelled',
        killed_pids: [42],
        error_message: 'cancelled on request',
      })
    },
  )

  test('A forced cancel is final: later writes of the worker are refused', async () => {
    const run = await running()
    await db.runStore.record([{ ...keyOf(run), steps: [step(1)] }])
    await db.store.runs.requestCancel(run.runUuid)
    await db.store.runs.forceCancel(run.runId, 0)
    expect(await db.runStore.record([{ ...keyOf(run), totalSteps: 3 }])).toEqual([keyOf(run)])
    expect(await db.runStore.finish([ended(run)])).toEqual([keyOf(run)])
    expect(await db.store.runs.find(run.runUuid)).toMatchObject({ status: 'cancelled', total_steps: 0 })
    expect((await db.store.runs.steps(run.runUuid))?.data[0]?.status).toBe('cancelled')
  })

  test('A cancel is forced neither before its time nor without a request', async () => {
    const run = await running()
    expect(await db.store.runs.forceCancel(run.runId, 0)).toBe(false)
    await db.store.runs.requestCancel(run.runUuid)
    expect(await db.store.runs.forceCancel(run.runId, 60_000)).toBe(false)
    expect(await statusOf(db.store, run.runId)).toBe('running')
    expect(await db.store.runs.forceCancel(run.runId, 0)).toBe(true)
  })

  test('A concurrent cancel and finish write one status and one event', async () => {
    await submitted(db.store, {}, targets(40))
    const runs = await claimAll(db.store, db.runStore, workerId)
    await Promise.all(
      runs.flatMap((run) => [
        db.runStore.finish([ended(run)]),
        db.store.runs.requestCancel(run.runUuid).then(() => db.store.runs.forceCancel(run.runId, 0)),
      ]),
    )
    for (const run of runs) {
      expect(['completed', 'cancelled']).toContain(await statusOf(db.store, run.runId))
      const { data } = await db.store.events.list({ runId: run.runUuid }, { offset: 0, limit: 10 })
      expect(data.filter((entry) => entry.topic !== 'run.started')).toHaveLength(1)
    }
  })

  test('A cancel to which no worker responds is forced after its time', async () => {
    const run = await running()
    await db.store.runs.requestCancel(run.runUuid)
    expect(await db.store.recovery.forceStaleCancels(60_000, 1_000)).toBe(0)
    expect(await db.store.recovery.forceStaleCancels(0, 1_000)).toBe(1)
    expect(await statusOf(db.store, run.runId)).toBe('cancelled')
    expect(await db.store.recovery.forceStaleCancels(0, 1_000)).toBe(0)
  })

  test('A call forces as many cancels as its limit allows', async () => {
    await submitted(db.store, {}, targets(3))
    for (const run of await claimAll(db.store, db.runStore, workerId))
      await db.store.runs.requestCancel(run.runUuid)
    expect(await db.store.recovery.forceStaleCancels(0, 2)).toBe(2)
    expect(await db.store.recovery.forceStaleCancels(0, 2)).toBe(1)
  })
})

describe('cancelling a job', () => {
  test('The cancel of a job ends its waiting runs, requests the cancel of running ones and leaves ended ones', async () => {
    const { jobId, runIds } = await submitted(db.store, {}, targets(5))
    const rows = await take(db.store, { limit: 2 })
    await db.store.outbox.remove(rows)
    const [a, b] = (await db.runStore.claim(workerId, rows)).sort((x, y) => x.runId - y.runId)
    if (!a || !b) throw new Error('nothing claimed')
    await db.runStore.finish([ended(a)])
    expect(await db.store.jobs.requestCancel(jobId)).toMatchObject({
      cancelled: 3,
      requested: [b.runId],
    })
    expect(await take(db.store)).toEqual([])
    const statuses = await Promise.all(runIds.map((id) => statusOf(db.store, id)))
    expect(statuses).toEqual(['completed', 'running', 'cancelled', 'cancelled', 'cancelled'])
  })

  test('A cancel of a job that its master did not finish is finished once by the other masters', async () => {
    const { jobId } = await submitted(db.store, { concurrency: 2 }, targets(6))
    const [a, b] = await claimAll(db.store, db.runStore, workerId)
    if (!a || !b) throw new Error('nothing claimed')
    expect(await db.store.jobs.finishCancel()).toBeUndefined()
    // The state that a master leaves when it dies after the mark.
    await db.sql(`update jobs set cancel_requested_at = now(), cancel_due_at = now() - interval '1 s'`)
    const finished = await Promise.all(Array.from({ length: 5 }, () => db.store.jobs.finishCancel()))
    expect(finished.filter((one) => one !== undefined)).toMatchObject([
      {
        jobId,
        interrupted: true,
        cancelled: 4,
        requested: [a.runId, b.runId],
      },
    ])
    await db.runStore.finish([ended(a), ended(b)])
    expect(await db.store.jobs.status(jobId)).toMatchObject({ cancelled: 6, pending: 0, running: 0 })
    expect(await db.store.jobs.requestCancel(jobId)).toMatchObject({ cancelled: 0, requested: [] })
    expect(await db.store.jobs.finishCancel()).toBeUndefined()
  })

  test('The cancel of a large job answers after its first chunk, and another call cancels the rest', async () => {
    const { jobId } = await submitted(db.store, {}, targets(5_003))
    const [run] = await db.runStore.claim(workerId, await take(db.store, { limit: 1 }))
    if (!run) throw new Error('nothing claimed')
    const requested = [run.runId]
    expect(await db.store.jobs.requestCancel(jobId)).toMatchObject({ cancelled: 5_002, requested })
    expect(await db.store.jobs.status(jobId)).toMatchObject({ cancelled: 5_000, pending: 2, running: 1 })
    expect(await db.store.jobs.finishCancel()).toMatchObject({
      jobId,
      interrupted: false,
      cancelled: 2,
      requested,
    })
    expect(await db.store.jobs.status(jobId)).toMatchObject({ cancelled: 5_002, pending: 0, running: 1 })
    expect(await db.store.jobs.finishCancel()).toBeUndefined()
  })

  test.each([
    ['distributed', (rows: Parameters<typeof db.runStore.claim>[1]) => db.runStore.claim(workerId, rows)],
    ['local', () => db.runStore.claimLocal(workerId, 10)],
  ] as const)('A waiting %s run of a job that is being cancelled is not claimed', async (runMode, claim) => {
    const { jobId } = await submitted(db.store, { runMode, concurrency: 5 }, targets(3))
    const other = await submitted(db.store, { runMode, concurrency: 5 })
    const rows = await take(db.store)
    await db.sql('update jobs set cancel_requested_at = now() where job_id = $1', [jobId])
    expect((await claim(rows)).map(({ runId }) => runId)).toEqual(other.runIds)
    expect(await claim(rows)).toEqual([])
    expect(await db.store.jobs.requestCancel(jobId)).toMatchObject({ cancelled: 3, requested: [] })
  })

  test('A waiting run that has started before is cancelled with its job', async () => {
    const { jobId } = await submitted(db.store, {}, targets(2))
    const [run] = await claimAll(db.store, db.runStore, workerId, { limit: 1 })
    if (!run) throw new Error('nothing claimed')
    await db.runStore.handBack([keyOf(run)])
    expect(await db.store.jobs.requestCancel(jobId)).toMatchObject({ cancelled: 2, requested: [] })
    expect(await db.store.jobs.status(jobId)).toMatchObject({ cancelled: 2 })
  })

  test('A freed slot does not pass to a run of a job that is being cancelled', async () => {
    const { jobId } = await submitted(db.store, { concurrency: 1 }, targets(4))
    const [run] = await claimAll(db.store, db.runStore, workerId)
    if (!run) throw new Error('nothing claimed')
    // The mark comes first; the runs of a large job are cancelled chunk by chunk after it.
    await db.sql('update jobs set cancel_requested_at = now()')
    await db.runStore.finish([ended(run)])
    expect(await take(db.store)).toEqual([])
    await db.store.jobs.requestCancel(jobId)
    expect(await db.store.jobs.status(jobId)).toMatchObject({
      completed: 1,
      cancelled: 3,
      pending: 0,
      running: 0,
    })
  })
})
