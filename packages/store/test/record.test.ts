import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { ArtifactRecord, ClaimedRun, EventRecord, RunKey } from '@scanfarm/contracts'
import { testDatabase } from './database.ts'
import {
  claimAll,
  closedStep,
  ended,
  joined,
  keyOf,
  runningOf,
  statusOf,
  step,
  submitted,
  targets,
  wipe,
} from './fixtures.ts'

const db = forAllTests(testDatabase)
let workerId: string
beforeEach(async () => {
  await wipe(db.url)
  workerId = await joined(db.runStore)
})

const running = () => runningOf(db.store, db.runStore, workerId)
const find = (run: ClaimedRun) => db.store.runs.find(run.runUuid)
const stepsOf = async (run: ClaimedRun) => (await db.store.runs.steps(run.runUuid))?.data ?? []
/** Requeues a run like the reaper after the loss of its worker. */
const requeue = (run: ClaimedRun) =>
  db.sql(`select requeue_runs(array[${run.runId}]::bigint[], 'the worker was lost')`)

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
  test('An update changes the given fields and keeps the others', async () => {
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

  test('A run never has more completed steps than steps', async () => {
    const run = await running()
    await db.runStore.record([{ ...keyOf(run), totalSteps: 2, completedSteps: 5 }])
    expect(await find(run)).toMatchObject({ total_steps: 2, completed_steps: 2 })
    await db.runStore.record([{ ...keyOf(run), totalSteps: 1 }])
    expect(await find(run)).toMatchObject({ total_steps: 1, completed_steps: 1 })
  })

  test('Steps are inserted or updated by their number, in order, and an ended step never changes again', async () => {
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
    expect(await db.store.runs.log(run.runUuid, first.id)).toMatchObject({
      runId: run.runId,
      attempt: 1,
      step: { storeKey: 'log/1', output: 'done', status: 'completed' },
    })
  })

  test('Each step that completes or fails writes one event', async () => {
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

  test('Output of tools is stored unchanged except for characters that Postgres cannot store', async () => {
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

  test('A batch that is recorded twice is stored once', async () => {
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

  test('The time to write an event does not depend on the number of events of its run', async () => {
    const run = await running()
    const events = () => Array.from({ length: 500 }, () => event())
    const timed = async () => {
      const begin = performance.now()
      await db.runStore.record([{ ...keyOf(run), events: events() }])
      return performance.now() - begin
    }
    const times = [await timed(), await timed(), await timed()]
    await db.sql(`
      insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                              processed, processed_at)
      select 'a', 'evt_' || n, 'a', 'executor', 'a', '{}', '', '${run.runUuid}', '', true, now()
      from generate_series(1, 50000) n`)
    expect(Math.min(await timed(), await timed())).toBeLessThan(10 * Math.max(...times))
  })

  test('Several updates of one run in one call are written in order', async () => {
    const run = await running()
    const lost = await db.runStore.record([
      { ...keyOf(run), totalSteps: 3, completedSteps: 1 },
      { ...keyOf(run), completedSteps: 2 },
      { ...keyOf(run), completedSteps: 3 },
    ])
    expect(lost).toEqual([])
    expect(await find(run)).toMatchObject({ completed_steps: 3 })
  })

  test('A value that Postgres refuses fails its own call and no other call of the same statement', async () => {
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
  test('An attempt that lost its run can neither record nor finish, and the next attempt can do both', async () => {
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

  test('A statement with an old and a new attempt of a run refuses only the old one', async () => {
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

  test('A run that was requeued or does not exist cannot be written', async () => {
    const run = await running()
    await requeue(run)
    const keys = [keyOf(run), { runId: 123_456_789, attempt: 1 }]
    const sorted = (refused: readonly RunKey[]) => refused.toSorted((a, b) => a.runId - b.runId)
    expect(sorted(await db.runStore.record(keys))).toEqual(keys)
    expect(sorted(await db.runStore.finish(keys.map((key) => ended(key))))).toEqual(keys)
  })

  test('Open steps of a lost worker are closed: running ones as failed, pending ones as cancelled', async () => {
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
  test('A finish writes the last update and ends the run in one call', async () => {
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
    ['cancelled', 'run.cancelled'],
  ] as const)('A run that ends as %s writes one event %s', async (status, topic) => {
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

  test('The end of a run does not complete its other steps', async () => {
    const run = await running()
    await db.runStore.finish([ended(run, 'failed', { totalSteps: 5, completedSteps: 2 })])
    expect(await find(run)).toMatchObject({ total_steps: 5, completed_steps: 2 })
  })

  test('The end of a run closes its open steps', async () => {
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

  test('A repeated finish is accepted and changes nothing', async () => {
    const run = await running()
    await db.runStore.finish([ended(run, 'completed')])
    expect(await db.runStore.finish([ended(run, 'failed', { totalSteps: 7 }, 'other')])).toEqual([])
    expect(await find(run)).toMatchObject({ status: 'completed', error_message: '', total_steps: 0 })
    expect((await db.store.events.list({ runId: run.runUuid }, { offset: 0, limit: 10 })).total).toBe(2)
  })

  test('Many concurrent finishes share statements and all runs end', async () => {
    await submitted(db.store, {}, targets(450))
    const runs = await claimAll(db.store, db.runStore, workerId)
    const lost = await Promise.all(runs.map((run) => db.runStore.finish([ended(run)])))
    expect(lost.flat()).toEqual([])
    const { total } = await db.store.runs.list({ status: 'completed' }, { offset: 0, limit: 1 })
    expect(total).toBe(450)
  })
})

describe('heartbeat and leaving', () => {
  test('The heartbeat returns the runs of the worker in the database, and which of them must be cancelled or are followed', async () => {
    const [a, b] = [await running(), await running()]
    await db.store.runs.requestCancel(b.runUuid)
    await db.store.runs.followLogs([a.runId], 60_000)
    expect(await db.runStore.heartbeat(workerId, 2)).toEqual({
      known: true,
      wanted: 'running',
      drainMs: 0,
      scopesVersion: 0,
      runs: [
        { runId: a.runId, attempt: 1, cancelRequested: false, followed: true },
        { runId: b.runId, attempt: 1, cancelRequested: true, followed: false },
      ],
    })
    await db.runStore.heartbeat(workerId, 2, true)
    expect((await db.store.workers.list()).data).toMatchObject([
      { id: workerId, status: 'draining', busy_slots: 2, current_runs: [a.runUuid, b.runUuid] },
    ])
  })

  test('A worker shows no more busy slots than it has, although runs may wait without one', async () => {
    const small = await joined(db.runStore, { slots: 1 })
    await submitted(db.store, {}, targets(2))
    expect(await claimAll(db.store, db.runStore, small)).toHaveLength(2)
    const { data } = await db.store.workers.list()
    expect(data.find(({ id }) => id === small)).toMatchObject({ slots: 1, busy_slots: 1, status: 'busy' })
  })

  test('A worker that leaves hands back its runs, under a new epoch and without a crash', async () => {
    const run = await running()
    await db.runStore.leave(workerId)
    expect(await find(run)).toMatchObject({ status: 'queued', attempt: 1 })
    expect((await db.store.workers.list()).data.map((one) => one.id)).not.toContain(workerId)
    const { rows } = await db.sql(`select epoch, crashes from runs where id = ${run.runId}`)
    expect(rows).toEqual([{ epoch: 1, crashes: 0 }])
  })

  test('A run that is handed back after a cancel request is cancelled', async () => {
    const run = await running()
    await db.store.runs.requestCancel(run.runUuid)
    await db.runStore.handBack([keyOf(run)])
    expect(await statusOf(db.store, run.runId)).toBe('cancelled')
  })
})
