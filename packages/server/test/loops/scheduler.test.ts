import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { EventReceiver } from '../../src/loops/event-receiver/receiver.ts'
import { nextTime, timesBetween } from '../../src/loops/event-receiver/cron-times.ts'
import { Scheduler } from '../../src/loops/scheduler/scheduler.ts'
import type { Store } from '@scanfarm/store'
import { module, NEVER, openTriggerFarm, type TriggerFarm } from './_triggers.ts'

const cron = (more = '', schedule = '*/10 * * * *') => `    on: cron
    schedule: "${schedule}"
    input:
      target: cron.test
${more}`

let farm: TriggerFarm
beforeAll(async () => {
  farm = await openTriggerFarm({
    'once.yaml': module('once', cron()),
    'skip.yaml': module('skip', cron('    missed: skip\n')),
    'all.yaml': module('all', cron('    missed: all\n    missed_window: 35m\n')),
    'berlin.yaml': module('berlin', cron('    timezone: Europe/Berlin\n', '30 2 * * *')),
  })
})
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await farm.sql('truncate trigger_clocks, trigger_firings, jobs, runs, outbox, slots, event_logs cascade')
})

const schedulerOf = (receiver: EventReceiver & { store: Store }) =>
  new Scheduler(receiver, receiver.store.triggers)
const at = (time: string): Date => new Date(`2026-03-01T${time}:00Z`)
const fired = async (): Promise<Record<string, number>> => {
  const rows = await farm.sql('select workflow_name as name, count(*)::int as n from jobs group by 1')
  return Object.fromEntries(rows.map(({ name, n }): [string, number] => [String(name), Number(n)]))
}

describe('the scheduler', () => {
  test('fires at the times of the schedule, as an ordinary run with an event', async () => {
    const scheduler = schedulerOf(await farm.master())
    await scheduler.tickOnce(at('10:01'), NEVER)
    expect(await fired()).toEqual({})
    await scheduler.tickOnce(at('10:09'), NEVER)
    expect(await fired()).toEqual({})
    await scheduler.tickOnce(at('10:10'), NEVER)
    await scheduler.tickOnce(at('10:10'), NEVER)
    expect(await fired()).toEqual({ once: 1, skip: 1, all: 1 })
    const [run] = (await farm.store.runs.list({ workflowName: 'once' }, { offset: 0, limit: 1 })).data
    expect(run).toMatchObject({
      target: 'cron.test',
      trigger_type: 'cron',
      run_mode: 'distributed',
      status: 'queued',
    })
    const { data } = await farm.store.events.list({ topic: 'schedule.triggered' }, { offset: 0, limit: 9 })
    expect(data).toHaveLength(3)
    expect(data[0]).toMatchObject({ source: 'scheduler', data_type: 'schedule', processed: true, error: '' })
    expect(JSON.parse(data[0]?.data ?? '')).toMatchObject({
      trigger: 'main',
      time: '2026-03-01T10:10:00.000Z',
    })
  })

  test('fires once though many masters tick at the same time, and after a restart', async () => {
    const masters = await Promise.all([farm.master(), farm.master(), farm.master()])
    const schedulers = masters.map(schedulerOf)
    for (const time of ['10:01', '10:10', '10:15', '10:20'])
      await Promise.all(schedulers.map((scheduler) => scheduler.tickOnce(at(time), NEVER)))
    expect(await fired()).toEqual({ once: 2, skip: 2, all: 2 })
    await schedulerOf(await farm.master()).tickOnce(at('10:21'), NEVER)
    expect(await fired()).toEqual({ once: 2, skip: 2, all: 2 })
  })

  test('makes up for missed firings as each trigger says', async () => {
    await schedulerOf(await farm.master()).tickOnce(at('10:01'), NEVER)
    const back = schedulerOf(await farm.master())
    await back.tickOnce(at('11:05'), NEVER)
    expect(await fired()).toEqual({ once: 1, all: 4 })
    await back.tickOnce(at('11:10'), NEVER)
    expect(await fired()).toEqual({ once: 2, all: 5, skip: 1 })
  })

  test('begins anew when the schedule was changed or the trigger was off', async () => {
    const receiver = await farm.master()
    const scheduler = schedulerOf(receiver)
    await scheduler.tickOnce(at('10:01'), NEVER)
    await farm.write('once.yaml', module('once', cron('', '*/7 * * * *')))
    await farm.write(
      'all.yaml',
      module('all', cron('    missed: all\n')).replace('enabled: true', 'enabled: false'),
    )
    await receiver.registry.current()
    await scheduler.tickOnce(at('10:35'), NEVER)
    expect(await fired()).toEqual({})
    await farm.write('all.yaml', module('all', cron('    missed: all\n    missed_window: 35m\n')))
    await receiver.registry.current()
    await scheduler.tickOnce(at('10:41'), NEVER)
    expect(await fired()).toEqual({ skip: 1 })
    await scheduler.tickOnce(at('10:42'), NEVER)
    expect(await fired()).toEqual({ skip: 1, once: 1 })
    await farm.write('once.yaml', module('once', cron()))
  })

  test('keeps to the clock of a time zone, over its changes', () => {
    expect(nextTime('30 2 * * *', 'Europe/Berlin', new Date('2026-03-28T12:00:00Z'))?.toISOString()).toBe(
      '2026-03-29T01:00:00.000Z',
    )
    const october = timesBetween(
      '30 2 * * *',
      'Europe/Berlin',
      new Date('2026-10-24T12:00:00Z'),
      new Date('2026-10-26T12:00:00Z'),
    )
    expect(october.map((time) => time.toISOString())).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
  })

  test('knows a day that never comes', () => {
    expect(nextTime('0 0 31 2 *', 'UTC', new Date())).toBeNull()
  })
})
