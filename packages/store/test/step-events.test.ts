import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testDatabase } from './database.ts'
import { ended, step, submitted, worker } from './fixtures.ts'

const db = forAllTests(() => testDatabase())

const claimed = async () => {
  const { workerId } = worker()
  await db.runStore.join(worker({ workerId }))
  const { runIds } = await submitted(db.store)
  const [runId = 0] = runIds
  const [run] = await db.runStore.claim(workerId, [{ runId, epoch: 0 }])
  if (run === undefined) throw new Error('the run was not claimed')
  return { runId, attempt: run.attempt, runUuid: run.runUuid, workerId }
}
const stepEvents = async (runId: string) => {
  const { data } = await db.store.events.list({ runId }, { offset: 0, limit: 50 })
  return data.filter(({ topic }) => topic.startsWith('step.')).reverse()
}
const DONE = {
  status: 'completed',
  exitCode: 0,
  durationMs: 7,
  completedAt: '2026-01-31T12:00:01.000Z',
} as const

describe('events of steps', () => {
  test('A step that is reported as ended several times writes one event', async () => {
    const run = await claimed()
    const key = { runId: run.runId, attempt: run.attempt }
    const first = step(1)
    const second = step(2, { name: 'scan', module: 'ports' })
    await db.runStore.record([{ ...key, totalSteps: 2, steps: [first, second] }])
    expect(await stepEvents(run.runUuid)).toEqual([])
    const last = {
      steps: [
        { ...first, ...DONE },
        { ...second, ...DONE, status: 'failed' as const, exitCode: 3, errorMessage: 'no route' },
      ],
    }
    await db.runStore.record([{ ...key, ...last }])
    await db.runStore.record([{ ...key, ...last }])
    await db.runStore.finish([ended(run, 'failed', last)])
    const events = await stepEvents(run.runUuid)
    expect(events).toMatchObject([
      {
        topic: 'step.completed',
        name: 'step.completed',
        source: 'executor',
        data_type: 'step',
        processed: true,
      },
      { topic: 'step.failed', source: 'executor', data_type: 'step' },
    ])
    expect(JSON.parse(events[1]?.data ?? '')).toMatchObject({
      step_name: 'scan',
      module: 'ports',
      status: 'failed',
      exit_code: 3,
      duration_ms: 7,
      error_message: 'no route',
    })
  })

  test('A step that ends with its run writes an event', async () => {
    const run = await claimed()
    await db.runStore.record([{ runId: run.runId, attempt: run.attempt, totalSteps: 1, steps: [step(1)] }])
    await db.runStore.leave(run.workerId)
    expect(await stepEvents(run.runUuid)).toMatchObject([{ topic: 'step.failed' }])
  })
})

describe('pruning', () => {
  test('Only events older than the given days are deleted', async () => {
    const run = await claimed()
    const idsOf = async () => {
      const { data } = await db.store.events.list({}, { offset: 0, limit: 100 })
      return data.map(({ id }) => id)
    }
    const before = await idsOf()
    await db.sql("update event_logs set created_at = now() - interval '31 days'")
    await db.runStore.finish([ended({ runId: run.runId, attempt: run.attempt })])
    expect(await db.store.events.prune(30)).toBe(before.length)
    const after = await idsOf()
    expect(after).toHaveLength(1)
    expect(before).not.toContain(after[0])
    expect(await db.store.events.prune(30)).toBe(0)
  })
})
