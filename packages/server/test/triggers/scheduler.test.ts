import { beforeEach, describe, expect, test } from '@jest/globals'
import type { EventReceiver } from '../../src/triggers/event-receiver.ts'
import { delayOf, nextTime, timesBetween } from '../../src/triggers/cron-times.ts'
import { Scheduler } from '../../src/triggers/scheduler.ts'
import type { Store } from '@scanfarm/store'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { module, NEVER, openTriggerHarness } from './_trigger-harness.ts'

const cron = (more = '', schedule = '*/10 * * * *') => `    on: cron
    schedule: "${schedule}"
    input:
      target: cron.test
${more}`

const harness = forAllTests(() =>
  openTriggerHarness({
    'once.yaml': module('once', cron()),
    'skip.yaml': module('skip', cron('    missed: skip\n')),
    'all.yaml': module('all', cron('    missed: all\n    missed_window: 35m\n')),
    'spread.yaml': module('spread', cron('    jitter: 1h\n', '0 15 * * *')),
    'berlin.yaml': module('berlin', cron('    timezone: Europe/Berlin\n', '30 2 * * *')),
  }),
)
beforeEach(async () => {
  await harness.sql('truncate trigger_clocks, trigger_firings, jobs, runs, outbox, slots, event_logs cascade')
})

const schedulerOf = (receiver: EventReceiver & { store: Store }) =>
  new Scheduler(receiver, receiver.store.triggers)
const at = (time: string): Date => new Date(`2026-03-01T${time}:00Z`)
const fired = async (): Promise<Record<string, number>> => {
  const rows = await harness.sql('select workflow_name as name, count(*)::int as n from jobs group by 1')
  return Object.fromEntries(rows.map(({ name, n }): [string, number] => [String(name), Number(n)]))
}

describe('the scheduler', () => {
  test('a schedule fires at its times and starts an ordinary run with an event', async () => {
    const scheduler = schedulerOf(await harness.master())
    await scheduler.tickOnce(at('10:01'), NEVER)
    expect(await fired()).toEqual({})
    await scheduler.tickOnce(at('10:09'), NEVER)
    expect(await fired()).toEqual({})
    await scheduler.tickOnce(at('10:10'), NEVER)
    await scheduler.tickOnce(at('10:10'), NEVER)
    expect(await fired()).toEqual({ once: 1, skip: 1, all: 1 })
    const [run] = (await harness.store.runs.list({ workflowName: 'once' }, { offset: 0, limit: 1 })).data
    expect(run).toMatchObject({
      target: 'cron.test',
      trigger_type: 'cron',
      run_mode: 'distributed',
      status: 'queued',
    })
    const { data } = await harness.store.events.list({ topic: 'schedule.triggered' }, { offset: 0, limit: 9 })
    expect(data).toHaveLength(3)
    expect(data[0]).toMatchObject({ source: 'scheduler', data_type: 'schedule', processed: true, error: '' })
    expect(JSON.parse(data[0]?.data ?? '')).toMatchObject({
      trigger: 'main',
      time: '2026-03-01T10:10:00.000Z',
    })
  })

  test('a schedule fires once for many concurrent masters and after a restart', async () => {
    const masters = await Promise.all([harness.master(), harness.master(), harness.master()])
    const schedulers = masters.map(schedulerOf)
    for (const time of ['10:01', '10:10', '10:15', '10:20'])
      await Promise.all(schedulers.map((scheduler) => scheduler.tickOnce(at(time), NEVER)))
    expect(await fired()).toEqual({ once: 2, skip: 2, all: 2 })
    await schedulerOf(await harness.master()).tickOnce(at('10:21'), NEVER)
    expect(await fired()).toEqual({ once: 2, skip: 2, all: 2 })
  })

  test('a trigger with jitter fires later, by the same part of it each time', async () => {
    const delayMs = delayOf('module/spread#main', 60 * 60_000)
    expect(delayMs).toBeGreaterThan(60_000)
    expect(delayOf('module/other#main', 60 * 60_000)).not.toBe(delayMs)
    const [receiver, other] = [await harness.master(), await harness.master()]
    const later = (ms: number) => new Date(at('15:00').getTime() + ms)
    await schedulerOf(receiver).tickOnce(at('14:59'), NEVER)
    await schedulerOf(receiver).tickOnce(later(delayMs - 1), NEVER)
    expect((await fired())['spread']).toBeUndefined()
    for (const one of [receiver, other, receiver]) await schedulerOf(one).tickOnce(later(delayMs), NEVER)
    expect((await fired())['spread']).toBe(1)
    await schedulerOf(other).tickOnce(later(60 * 60_000), NEVER)
    expect((await fired())['spread']).toBe(1)
    const { data } = await harness.store.events.list(
      { topic: 'schedule.triggered', workflowName: 'spread' },
      { offset: 0, limit: 9 },
    )
    expect(JSON.parse(data[0]?.data ?? '')).toMatchObject({ time: '2026-03-01T15:00:00.000Z' })
  })

  test('missed times are executed according to the policy of each trigger', async () => {
    await schedulerOf(await harness.master()).tickOnce(at('10:01'), NEVER)
    const back = schedulerOf(await harness.master())
    await back.tickOnce(at('11:05'), NEVER)
    expect(await fired()).toEqual({ once: 1, all: 4 })
    await back.tickOnce(at('11:10'), NEVER)
    expect(await fired()).toEqual({ once: 2, all: 5, skip: 1 })
  })

  test('a changed or disabled trigger starts again from the current time', async () => {
    const receiver = await harness.master()
    const scheduler = schedulerOf(receiver)
    await scheduler.tickOnce(at('10:01'), NEVER)
    await harness.write('once.yaml', module('once', cron('', '*/7 * * * *')))
    await harness.write(
      'all.yaml',
      module('all', cron('    missed: all\n')).replace('enabled: true', 'enabled: false'),
    )
    await receiver.registry.current()
    await scheduler.tickOnce(at('10:35'), NEVER)
    expect(await fired()).toEqual({})
    await harness.write('all.yaml', module('all', cron('    missed: all\n    missed_window: 35m\n')))
    await receiver.registry.current()
    await scheduler.tickOnce(at('10:41'), NEVER)
    expect(await fired()).toEqual({ skip: 1 })
    await scheduler.tickOnce(at('10:42'), NEVER)
    expect(await fired()).toEqual({ skip: 1, once: 1 })
    await harness.write('once.yaml', module('once', cron()))
  })

  test('a schedule follows the clock of its time zone across daylight saving changes', () => {
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

  test('a day that does not exist never fires', () => {
    expect(nextTime('0 0 31 2 *', 'UTC', new Date())).toBeNull()
  })
})
