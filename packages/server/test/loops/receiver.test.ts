import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { EventDraft } from '@scanfarm/store'
import { module, NEVER, openTriggerFarm, type TriggerFarm } from './_triggers.ts'

const on = (topic: string, more = '') => `    on: event
    event:
      topic: ${topic}
${more}    input:
      target: event_data.host
`

let farm: TriggerFarm
beforeAll(async () => {
  farm = await openTriggerFarm({
    'first.yaml': module('first', on('custom.load')),
    'second.yaml': module('second', on('custom.l?ad', `      filters:\n        - event.data.n % 2 === 0\n`)),
  })
})
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
})

const event = (topic: string, data: object): EventDraft => ({
  topic,
  eventId: `evt_${randomUUID()}`,
  name: topic,
  source: 'executor',
  dataType: 'custom',
  data: JSON.stringify(data),
  workspace: 'space',
  runId: '',
  workflowName: '',
})
const runsOf = async (workflow: string): Promise<number> => {
  const [row] = await farm.sql(`select count(*)::int as n from runs where workflow_name = '${workflow}'`)
  return Number(row?.['n'])
}

describe('the event receiver', () => {
  test('lets events that no trigger wants be born processed, and takes the others', async () => {
    const receiver = await farm.master()
    await receiver.registry.current()
    await farm.store.triggers.record(event('custom.other', {}))
    await farm.store.triggers.record(event('custom.load', { host: 'a.test', n: 1 }))
    const unprocessed = () => farm.store.events.list({ processed: false }, { offset: 0, limit: 10 })
    expect((await unprocessed()).data).toMatchObject([{ topic: 'custom.load', processed_at: null }])
    await receiver.receiveOnce(NEVER)
    expect((await unprocessed()).data).toEqual([])
    expect(await runsOf('first')).toBe(1)
    expect(await runsOf('second')).toBe(0)
  })

  test('deals with each event once though many masters look at the same time', async () => {
    const before = [await runsOf('first'), await runsOf('second')]
    const masters = await Promise.all([farm.master(), farm.master(), farm.master()])
    for (let n = 0; n < 40; n++)
      await farm.store.triggers.record(event('custom.load', { host: `h${n}.test`, n }))
    const drain = async (receiver: (typeof masters)[number]) => {
      while (await receiver.receiveOnce(NEVER));
    }
    await Promise.all(masters.map(drain))
    expect([await runsOf('first'), await runsOf('second')]).toEqual([
      (before[0] ?? 0) + 40,
      (before[1] ?? 0) + 20,
    ])
    const { total } = await farm.store.events.list({ processed: false }, { offset: 0, limit: 1 })
    expect(total).toBe(0)
  })

  test('does nothing for an event that somebody else has processed meanwhile', async () => {
    const receiver = await farm.master()
    await receiver.registry.current()
    await farm.store.triggers.record(event('custom.load', { host: 'slow.test', n: 1 }))
    const [claimed] = await farm.store.triggers.claimEvents({ limit: 1, leaseMs: 0 })
    const before = await runsOf('first')
    await receiver.receiveOnce(NEVER)
    expect(await runsOf('first')).toBe(before + 1)
    const late = await farm.store.triggers.processEvent(claimed?.id ?? 0, { firings: [], error: 'late' })
    expect(late).toBeUndefined()
  })

  test('leaves events to the others when it is stopped in the middle', async () => {
    const receiver = await farm.master()
    await farm.store.triggers.record(event('custom.load', { host: 'stop.test', n: 2 }))
    const stopped = AbortSignal.abort(new Error('stopped'))
    await expect(receiver.receiveOnce(stopped)).rejects.toThrow('stopped')
    const { total } = await farm.store.events.list({ processed: false }, { offset: 0, limit: 1 })
    expect(total).toBe(1)
    await farm.sql('update event_logs set claimed_until = now() where not processed')
    await receiver.receiveOnce(NEVER)
    expect((await farm.store.events.list({ processed: false }, { offset: 0, limit: 1 })).total).toBe(0)
  })

  test('takes a changed workflow file without a restart', async () => {
    const receiver = await farm.master()
    await receiver.registry.current()
    await farm.write('third.yaml', module('third', on('custom.third')))
    await receiver.registry.current()
    await farm.store.triggers.record(event('custom.third', { host: 'third.test' }))
    await receiver.receiveOnce(NEVER)
    expect(await runsOf('third')).toBe(1)
  })

  test('knows a trigger that was made before an event, though it looked at triggers a moment ago', async () => {
    const [first, second] = await Promise.all([farm.master(), farm.master()])
    await Promise.all([first, second].map((one) => one.registry.current()))
    await farm.store.schedules.add({
      name: 'late',
      workflowName: 'first',
      workflowKind: 'module',
      target: 'late.test',
      workspace: '',
      params: {},
      triggerType: 'event',
      schedule: '',
      eventTopic: 'custom.late',
      watchPath: '',
      spec: {},
      enabled: true,
    })
    await first.registry.current()
    const before = await runsOf('first')
    await farm.store.triggers.record(event('custom.late', {}))
    await second.receiveOnce(NEVER)
    expect(await runsOf('first')).toBe(before + 1)
  })

  test('takes no event before it knows its triggers, however many ask at the start', async () => {
    const before = await runsOf('first')
    const fresh = await farm.master()
    await farm.store.triggers.record(event('custom.load', { host: 'start.test', n: 1 }))
    await Promise.all([fresh.registry.current(2_000), fresh.receiveOnce(NEVER)])
    expect(await runsOf('first')).toBe(before + 1)
  })

  test('names what is wrong with a trigger, and goes on with the others', async () => {
    await farm.write(
      'wrong.yaml',
      module('wrong', on('custom.load').replace('event_data.host', 'get_var(event_data.host)')),
    )
    const { broken, ready } = await (await farm.master()).registry.current()
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
