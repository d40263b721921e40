import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { ArtifactRecord, ClaimedRun, EventRecord, RunKey } from '@scanfarm/contracts'
import { asSuperuser, testDatabase, type TestDatabase } from './database.ts'
import {
  claimAll,
  closedStep,
  ended,
  joined,
  keyOf,
  statusOf,
  step,
  submitted,
  targets,
  wipe,
} from './fixtures.ts'

let db: TestDatabase
let workerId: string
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())
const sql = (text: string) => asSuperuser((client) => client.query(text), db.url)
beforeEach(async () => {
  await wipe(db.url)
  workerId = await joined(db.runStore)
})

const running = async (): Promise<ClaimedRun> => {
  await submitted(db.store)
  const [run] = await claimAll(db.store, db.runStore, workerId)
  if (!run) throw new Error('nothing claimed')
  return run
}
const find = (run: ClaimedRun) => db.store.runs.find(run.runUuid)
const stepsOf = async (run: ClaimedRun) => (await db.store.runs.steps(run.runUuid))?.data ?? []
/** What a reaper does to a run whose worker was lost. */
const requeue = (run: ClaimedRun) =>
  sql(`select requeue_runs(array[${run.runId}]::bigint[], 1, 'the worker was lost')`)

const artifact = (changes: Partial<ArtifactRecord> = {}): ArtifactRecord => ({
  id: randomUUID(),
  name: 'report.md',
  path: 'reports/report.md',
  type: 'report',
  contentType: 'md',
  sizeBytes: 12,
  lineCount: 2,
  description: '',
  storeKey: 'k',
  sha256: 'f'.repeat(64),
  ...changes,
})
const event = (changes: Partial<EventRecord> = {}): EventRecord => ({
  eventId: `evt_${randomUUID()}`,
  topic: 'asset.discovered',
  name: 'scan',
  source: 'executor',
  dataType: 'asset',
  data: '{"host":"a"}',
  ...changes,
})

describe('recording', () => {
  test('keeps what is left out and changes what is given', async () => {
    const run = await running()
    await db.runStore.record([{ ...keyOf(run), totalSteps: 4, currentPid: 77, facts: { host: 'a' } }])
    await db.runStore.record([{ ...keyOf(run), completedSteps: 1, facts: { image: 'b' } }])
    expect(await find(run)).toMatchObject({
      total_steps: 4,
      completed_steps: 1,
      facts: { host: 'a', image: 'b' },
    })
    const { data } = await db.store.runs.list({}, { offset: 0, limit: 1 })
    expect(data[0]?.current_pid).toBe(77)
  })

  test('never shows more completed steps than there are', async () => {
    const run = await running()
    await db.runStore.record([{ ...keyOf(run), totalSteps: 2, completedSteps: 5 }])
    expect(await find(run)).toMatchObject({ total_steps: 2, completed_steps: 2 })
    await db.runStore.record([{ ...keyOf(run), totalSteps: 1 }])
    expect(await find(run)).toMatchObject({ total_steps: 1, completed_steps: 1 })
  })

  test('upserts steps by their place, in order, and a finished step never changes again', async () => {
    const run = await running()
    const first = step(1)
    await db.runStore.record([
      { ...keyOf(run), steps: [step(2, { status: 'pending', startedAt: null }), first] },
    ])
    expect((await stepsOf(run)).map((row) => [row.step_name, row.status])).toEqual([
      ['step-1', 'running'],
      ['step-2', 'pending'],
    ])
    const exports = { open_ports: '22,80' }
    await db.runStore.record([
      {
        ...keyOf(run),
        steps: [step(2), closedStep(2), closedStep(1, { exports, output: 'done', logFile: 'log/1' })],
      },
    ])
    await db.runStore.record([
      { ...keyOf(run), steps: [step(1, { output: 'late' }), step(2, { status: 'failed' })] },
    ])
    const rows = await stepsOf(run)
    expect(rows.map((row) => row.status)).toEqual(['completed', 'completed'])
    expect(rows[0]).toMatchObject({
      id: first.id,
      run_id: run.runId,
      output: 'done',
      exports,
      exit_code: 0,
      duration_ms: 12,
      attempt: 1,
      log_file: `/runs/${run.runUuid}/steps/${first.id}/log`,
      started_at: '2026-01-31T12:00:00.000Z',
      completed_at: '2026-01-31T12:00:01.000Z',
    })
    expect(await db.store.runs.stepLog(run.runUuid, first.id)).toEqual({
      storeKey: 'log/1',
      output: 'done',
      status: 'completed',
    })
  })

  test('tells the event log of each step that ends, once', async () => {
    const run = await running()
    await db.runStore.record([
      { ...keyOf(run), steps: [step(1), closedStep(2), closedStep(3, { status: 'failed' })] },
    ])
    await db.runStore.record([{ ...keyOf(run), steps: [closedStep(1), closedStep(2)] }])
    await db.runStore.record([
      { ...keyOf(run), steps: [closedStep(1), closedStep(4, { status: 'skipped' })] },
    ])
    const { data } = await db.store.events.list({ runId: run.runUuid }, { offset: 0, limit: 10 })
    const ofSteps = data.filter(({ data_type }) => data_type === 'step').reverse()
    expect(
      ofSteps.map(({ topic, source, data: text }) => [
        topic,
        source,
        (JSON.parse(text) as { step_name: string }).step_name,
      ]),
    ).toEqual([
      ['step.completed', 'executor', 'step-2'],
      ['step.failed', 'executor', 'step-3'],
      ['step.completed', 'executor', 'step-1'],
    ])
  })

  test('keeps what a tool wrote, without what Postgres cannot hold', async () => {
    const run = await running()
    const hostile = `'; drop table steps; --\u0000 \\u0000 \ud800 \u{1f4a9} "\\" \u202e`
    const clean = hostile.replaceAll('\0', '').toWellFormed()
    await db.runStore.record([
      {
        ...keyOf(run),
        facts: { ['a\0b']: hostile },
        steps: [
          closedStep(1, {
            output: hostile,
            errorMessage: hostile,
            command: hostile,
            exports: { x: hostile },
          }),
        ],
        artifacts: [artifact({ name: hostile, description: hostile })],
        events: [event({ data: JSON.stringify({ hostile }) })],
      },
    ])
    const [row] = await stepsOf(run)
    expect(row).toMatchObject({ output: clean, error_message: clean, command: clean, exports: { x: clean } })
    expect((await find(run))?.facts).toEqual({ ab: clean })
    expect((await db.store.runs.artifacts(run.runUuid))?.data[0]?.name).toBe(clean)
    const { data } = await db.store.events.list({ topic: 'asset.discovered' }, { offset: 0, limit: 1 })
    expect(JSON.parse(data[0]?.data ?? '')).toEqual({ hostile })
  })

  test('a batch that is written twice is there once', async () => {
    const run = await running()
    const update = {
      ...keyOf(run),
      steps: [closedStep(1)],
      artifacts: [artifact()],
      events: [event(), event()],
    }
    await db.runStore.record([update])
    await db.runStore.record([update])
    await db.runStore.record([{ ...update, events: [...update.events, ...update.events] }])
    expect(await stepsOf(run)).toHaveLength(1)
    expect((await db.store.runs.artifacts(run.runUuid))?.data).toHaveLength(1)
    const events = await db.store.events.list(
      { runId: run.runUuid, topic: 'asset.discovered' },
      { offset: 0, limit: 10 },
    )
    expect(events.total).toBe(2)
  })

  test('an event takes as long to write in a run that has raised many', async () => {
    const run = await running()
    const events = () => Array.from({ length: 500 }, () => event())
    const timed = async () => {
      const begin = performance.now()
      await db.runStore.record([{ ...keyOf(run), events: events() }])
      return performance.now() - begin
    }
    const times = [await timed(), await timed(), await timed()]
    await sql(`
      insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                              processed, processed_at)
      select 'a', 'evt_' || n, 'a', 'executor', 'a', '{}', '', '${run.runUuid}', '', true, now()
      from generate_series(1, 50000) n`)
    expect(Math.min(await timed(), await timed())).toBeLessThan(10 * Math.max(...times))
  })

  test('several updates of one run in one call are written in order', async () => {
    const run = await running()
    const lost = await db.runStore.record([
      { ...keyOf(run), totalSteps: 3, completedSteps: 1 },
      { ...keyOf(run), completedSteps: 2 },
      { ...keyOf(run), completedSteps: 3 },
    ])
    expect(lost).toEqual([])
    expect(await find(run)).toMatchObject({ completed_steps: 3 })
  })

  test('a value that Postgres refuses fails its own call and no other in the same statement', async () => {
    const good = await running()
    const bad = await running()
    const [first, second, third] = await Promise.allSettled([
      db.runStore.record([{ ...keyOf(good), totalSteps: 1 }]),
      db.runStore.record([{ ...keyOf(bad), steps: [step(1, { id: 'not-a-uuid' })] }]),
      db.runStore.record([{ ...keyOf(good), totalSteps: 9 }]),
    ])
    expect([first.status, second.status, third.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((await find(good))?.total_steps).toBe(9)
  })
})

describe('the fence', () => {
  test('an attempt that lost its run can neither record nor finish, while its successor can do both', async () => {
    const a = await running()
    await requeue(a)
    const [b] = await claimAll(db.store, db.runStore, await joined(db.runStore))
    if (!b) throw new Error('nothing claimed')
    expect(b).toMatchObject({ runId: a.runId, attempt: 2, epoch: 1 })

    const update = {
      ...keyOf(a),
      totalSteps: 99,
      steps: [closedStep(1, { output: 'zombie' })],
      events: [event()],
    }
    expect(await db.runStore.record([update])).toEqual([keyOf(a)])
    expect(await db.runStore.finish([ended(a, 'failed', update)])).toEqual([keyOf(a)])
    await db.runStore.handBack([keyOf(a)])
    expect(await find(b)).toMatchObject({ status: 'running', total_steps: 0, attempt: 2 })
    expect(await stepsOf(b)).toEqual([])

    expect(await db.runStore.finish([ended(b, 'completed', { totalSteps: 1, completedSteps: 1 })])).toEqual(
      [],
    )
    expect(await find(b)).toMatchObject({ status: 'completed', total_steps: 1 })
    expect((await db.store.events.list({ topic: 'asset.discovered' }, { offset: 0, limit: 1 })).total).toBe(0)
  })

  test('old and new attempt of a run in one statement are told apart', async () => {
    const a = await running()
    await requeue(a)
    const [b] = await claimAll(db.store, db.runStore, workerId)
    if (!b) throw new Error('nothing claimed')
    const lost = await db.runStore.record([
      { ...keyOf(a), totalSteps: 9, steps: [step(1)] },
      { ...keyOf(b), totalSteps: 3 },
    ])
    expect(lost).toEqual([keyOf(a)])
    expect(await find(b)).toMatchObject({ total_steps: 3 })
    expect(await stepsOf(b)).toEqual([])
  })

  test('runs that wait in the queue again, or never existed, cannot be written', async () => {
    const run = await running()
    await requeue(run)
    const keys = [keyOf(run), { runId: 123_456_789, attempt: 1 }]
    const sorted = (refused: readonly RunKey[]) => refused.toSorted((a, b) => a.runId - b.runId)
    expect(sorted(await db.runStore.record(keys))).toEqual(keys)
    expect(sorted(await db.runStore.finish(keys.map((key) => ended(key))))).toEqual(keys)
  })

  test('steps that were open when the worker was lost are closed as failed', async () => {
    const run = await running()
    await db.runStore.record([
      { ...keyOf(run), steps: [step(1), step(2, { status: 'pending', startedAt: null })] },
    ])
    await requeue(run)
    expect((await stepsOf(run)).map((row) => [row.status, row.error_message])).toEqual([
      ['failed', 'the worker was lost'],
      ['cancelled', 'the worker was lost'],
    ])
  })
})

describe('finishing', () => {
  test('writes the last update and ends the run in one go', async () => {
    const run = await running()
    await db.runStore.record([{ ...keyOf(run), currentPid: 5 }])
    const last = { totalSteps: 1, completedSteps: 1, steps: [closedStep(1)], artifacts: [artifact()] }
    expect(await db.runStore.finish([ended(run, 'completed', last)])).toEqual([])
    const found = await find(run)
    expect(found).toMatchObject({
      status: 'completed',
      total_steps: 1,
      completed_steps: 1,
      error_message: '',
    })
    expect(found?.completed_at).not.toBeNull()
    const { data } = await db.store.runs.list({}, { offset: 0, limit: 1 })
    expect(data[0]?.current_pid).toBe(0)
    expect((await db.store.runs.artifacts(String(run.runId)))?.data).toHaveLength(1)
  })

  test.each([
    ['completed', 'run.completed'],
    ['failed', 'run.failed'],
    ['cancelled', 'run.failed'],
  ] as const)('%s writes one entry %s', async (status, topic) => {
    const run = await running()
    await db.runStore.finish([{ ...ended(run, status, {}, 'because'), killedPids: [10, 11] }])
    const { data } = await db.store.events.list({ runId: run.runUuid }, { offset: 0, limit: 10 })
    expect(data.map((entry) => entry.topic)).toEqual([topic, 'run.started'])
    expect(data[0]).toMatchObject({
      source: 'executor',
      data_type: 'scan',
      processed: true,
      workspace: 'host-0.test',
    })
    expect(JSON.parse(data[0]?.data ?? '')).toMatchObject({
      status,
      error_message: 'because',
      run_uuid: run.runUuid,
    })
    expect(await find(run)).toMatchObject({ status, error_message: 'because', killed_pids: [10, 11] })
  })

  test('does not pretend that steps were done which were not', async () => {
    const run = await running()
    await db.runStore.finish([ended(run, 'failed', { totalSteps: 5, completedSteps: 2 })])
    expect(await find(run)).toMatchObject({ total_steps: 5, completed_steps: 2 })
  })

  test('closes steps that are still open', async () => {
    const [failed, cancelled] = [await running(), await running()]
    const steps = [closedStep(1), step(2), step(3, { status: 'pending', startedAt: null })]
    await db.runStore.finish([ended(failed, 'failed', { steps }), ended(cancelled, 'cancelled', { steps })])
    expect((await stepsOf(failed)).map((row) => row.status)).toEqual(['completed', 'failed', 'cancelled'])
    expect((await stepsOf(cancelled)).map((row) => row.status)).toEqual([
      'completed',
      'cancelled',
      'cancelled',
    ])
    for (const row of await stepsOf(failed)) expect(row.completed_at).not.toBeNull()
  })

  test('may be reported again after a lost answer, and changes nothing then', async () => {
    const run = await running()
    await db.runStore.finish([ended(run, 'completed')])
    expect(await db.runStore.finish([ended(run, 'failed', { totalSteps: 7 }, 'other')])).toEqual([])
    expect(await find(run)).toMatchObject({ status: 'completed', error_message: '', total_steps: 0 })
    expect((await db.store.events.list({ runId: run.runUuid }, { offset: 0, limit: 10 })).total).toBe(2)
  })

  test('many at once share statements and all end', async () => {
    await submitted(db.store, {}, targets(450))
    const runs = await claimAll(db.store, db.runStore, workerId)
    const lost = await Promise.all(runs.map((run) => db.runStore.finish([ended(run)])))
    expect(lost.flat()).toEqual([])
    const { total } = await db.store.runs.list({ status: 'completed' }, { offset: 0, limit: 1 })
    expect(total).toBe(450)
  })
})

describe('heartbeat and leaving', () => {
  test('the heartbeat tells what Postgres believes this worker runs, and which of it should end', async () => {
    const [a, b] = [await running(), await running()]
    await db.store.runs.requestCancel(b.runUuid)
    expect(await db.runStore.heartbeat(workerId, 2)).toEqual({
      known: true,
      runs: [
        { runId: a.runId, attempt: 1, cancelRequested: false },
        { runId: b.runId, attempt: 1, cancelRequested: true },
      ],
    })
    await db.runStore.heartbeat(workerId, 2, true)
    expect((await db.store.workers.list()).data).toMatchObject([
      { id: workerId, status: 'draining', busy_slots: 2, current_runs: [a.runUuid, b.runUuid] },
    ])
  })

  test('a worker that leaves hands back what it holds, under a new epoch and without a crash', async () => {
    const run = await running()
    await db.runStore.leave(workerId)
    expect(await find(run)).toMatchObject({ status: 'queued', attempt: 1 })
    expect((await db.store.workers.list()).data.map((one) => one.id)).not.toContain(workerId)
    const { rows } = await sql(`select epoch, crashes from runs where id = ${run.runId}`)
    expect(rows).toEqual([{ epoch: 1, crashes: 0 }])
  })

  test('a run that is handed back after a cancel was asked for is cancelled', async () => {
    const run = await running()
    await db.store.runs.requestCancel(run.runUuid)
    await db.runStore.handBack([keyOf(run)])
    expect(await statusOf(db.store, run.runId)).toBe('cancelled')
  })
})
