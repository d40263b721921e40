import { describe, expect, test } from '@jest/globals'
import type { EventDraft } from '@scanfarm/store'
import { eventDraft } from '@scanfarm/store/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { module, NEVER, openTriggerHarness } from './_trigger-harness.ts'

const on = (topic: string, more = '') => `    on: event
    event:
      topic: ${topic}
${more}    input:
      target: event_data.host
`

const harness = forAllTests(() =>
  openTriggerHarness({
    'first.yaml': module('first', on('custom.load')),
    'after.yaml': module('after', on('run.completed').replace('.host', '.target')),
    'second.yaml': module('second', on('custom.l?ad', `      filters:\n        - event.data.n % 2 === 0\n`)),
  }),
)

const event = (topic: string, data: object): EventDraft => eventDraft(topic, data, { workspace: 'space' })
const runsOf = async (workflow: string): Promise<number> => {
  const [row] = await harness.sql(`select count(*)::int as n from runs where workflow_name = '${workflow}'`)
  return Number(row?.['n'])
}

describe('the event receiver', () => {
  test('events that no trigger wants are stored as processed, and others are processed', async () => {
    const receiver = await harness.master()
    await receiver.registry.current()
    await harness.store.triggers.record(event('custom.other', {}))
    await harness.store.triggers.record(event('custom.load', { host: 'a.test', n: 1 }))
    const unprocessed = () => harness.store.events.list({ processed: false }, { offset: 0, limit: 10 })
    expect((await unprocessed()).data).toMatchObject([{ topic: 'custom.load', processed_at: null }])
    await receiver.receiveOnce(NEVER)
    expect((await unprocessed()).data).toEqual([])
    expect(await runsOf('first')).toBe(1)
    expect(await runsOf('second')).toBe(0)
  })

  test('an event of a run starts a run on the target with its password', async () => {
    const receiver = await harness.master()
    const target = 'https://user:secret@a.test/x'
    await harness.store.triggers.record(event('custom.load', { host: target, n: 1 }))
    await receiver.receiveOnce(NEVER)
    const [run] = await harness.sql(`select run_uuid from runs where target = '${target}'`)
    const told = { target: 'https://user:***@a.test/x' }
    for (const data of [told, { target: 'https://other:***@a.test/' }])
      await harness.store.triggers.record(
        eventDraft('run.completed', data, { workspace: 'space', run_id: String(run?.['run_uuid']) }),
      )
    await receiver.receiveOnce(NEVER)
    const started = await harness.sql(
      "select r.target, j.event_envelope::json -> 'data' ->> 'target' as told from runs r join jobs j on j.id = r.job_no where r.workflow_name = 'after' order by r.id",
    )
    // A masked target that is not that of the run is no valid target.
    expect(started).toEqual([{ target, told: target }])
  })

  test('each event is processed once by many concurrent masters', async () => {
    const before = [await runsOf('first'), await runsOf('second')]
    const masters = await Promise.all([harness.master(), harness.master(), harness.master()])
    for (let n = 0; n < 40; n++)
      await harness.store.triggers.record(event('custom.load', { host: `h${n}.test`, n }))
    const drain = async (receiver: (typeof masters)[number]) => {
      while (await receiver.receiveOnce(NEVER));
    }
    await Promise.all(masters.map(drain))
    expect([await runsOf('first'), await runsOf('second')]).toEqual([
      (before[0] ?? 0) + 40,
      (before[1] ?? 0) + 20,
    ])
    const { total } = await harness.store.events.list({ processed: false }, { offset: 0, limit: 1 })
    expect(total).toBe(0)
  })

  test('an event that another master has processed is skipped', async () => {
    const receiver = await harness.master()
    await receiver.registry.current()
    await harness.store.triggers.record(event('custom.load', { host: 'slow.test', n: 1 }))
    const [claimed] = await harness.store.triggers.claimEvents({ limit: 1, leaseMs: 0 })
    const before = await runsOf('first')
    await receiver.receiveOnce(NEVER)
    expect(await runsOf('first')).toBe(before + 1)
    const late = await harness.store.triggers.processEvent(claimed?.id ?? 0, {
      executions: [],
      error: 'late',
    })
    expect(late).toBeUndefined()
  })

  test('an aborted turn leaves its events to other masters', async () => {
    const receiver = await harness.master()
    await harness.store.triggers.record(event('custom.load', { host: 'stop.test', n: 2 }))
    const stopped = AbortSignal.abort(new Error('stopped'))
    await expect(receiver.receiveOnce(stopped)).rejects.toThrow('stopped')
    const { total } = await harness.store.events.list({ processed: false }, { offset: 0, limit: 1 })
    expect(total).toBe(1)
    await harness.sql('update event_logs set claimed_until = now() where not processed')
    await receiver.receiveOnce(NEVER)
    expect((await harness.store.events.list({ processed: false }, { offset: 0, limit: 1 })).total).toBe(0)
  })

  test('a changed workflow file is loaded without a restart', async () => {
    const receiver = await harness.master()
    await receiver.registry.current()
    await harness.write('third.yaml', module('third', on('custom.third')))
    await receiver.registry.current()
    await harness.store.triggers.record(event('custom.third', { host: 'third.test' }))
    await receiver.receiveOnce(NEVER)
    expect(await runsOf('third')).toBe(1)
  })

  test('a trigger created before an event is used although triggers were loaded a moment ago', async () => {
    const [first, second] = await Promise.all([harness.master(), harness.master()])
    await Promise.all([first, second].map((one) => one.registry.current()))
    await harness.store.schedules.add({
      name: 'late',
      workflow_name: 'first',
      workflow_kind: 'module',
      target: 'late.test',
      workspace: '',
      params: {},
      trigger_type: 'event',
      schedule: '',
      event_topic: 'custom.late',
      watch_path: '',
      spec: {},
      is_enabled: true,
    })
    await first.registry.current()
    const before = await runsOf('first')
    await harness.store.triggers.record(event('custom.late', {}))
    await second.receiveOnce(NEVER)
    expect(await runsOf('first')).toBe(before + 1)
  })

  test('no event is claimed before the triggers are loaded, with many concurrent callers', async () => {
    const before = await runsOf('first')
    const fresh = await harness.master()
    await harness.store.triggers.record(event('custom.load', { host: 'start.test', n: 1 }))
    await Promise.all([fresh.registry.current(2_000), fresh.receiveOnce(NEVER)])
    expect(await runsOf('first')).toBe(before + 1)
  })

  test('a broken trigger is listed with its problem, and others work', async () => {
    await harness.write(
      'wrong.yaml',
      module('wrong', on('custom.load').replace('event_data.host', 'get_var(event_data.host)')),
    )
    const { broken, ready } = await (await harness.master()).registry.current()
    expect(broken).toMatchObject([
      {
        name: 'main',
        workflow: { name: 'wrong' },
        problem: expect.stringContaining('"get_var" cannot be called by a trigger'),
      },
    ])
    expect(ready.map(({ key }) => key)).toContain('module/first#main')
  })
})
