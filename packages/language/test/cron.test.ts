import { describe, expect, test } from '@jest/globals'
import { cronProblem, parseCron } from '../src/trigger/cron.ts'

const AFTER = new Date('2026-03-10T10:20:30Z')
const next = (schedule: string): string | undefined =>
  parseCron(schedule, 'UTC').nextRun(AFTER)?.toISOString()

describe('the schedule of a trigger', () => {
  test.each([
    ['0 3 * * *', '2026-03-11T03:00:00.000Z'],
    ['@hourly', '2026-03-10T11:00:00.000Z'],
    ['@daily', '2026-03-11T00:00:00.000Z'],
    ['@midnight', '2026-03-11T00:00:00.000Z'],
    ['@weekly', '2026-03-15T00:00:00.000Z'],
    ['@monthly', '2026-04-01T00:00:00.000Z'],
    ['@yearly', '2027-01-01T00:00:00.000Z'],
    ['@every 2h', '2026-03-10T12:20:30.000Z'],
    ['@every 1h30m', '2026-03-10T11:50:30.000Z'],
    // These were compared with robfig/cron 3.0.1, which Osmedeus uses.
    ['5/15 * * * *', '2026-03-10T10:35:00.000Z'],
    ['0 2/6 * * *', '2026-03-10T14:00:00.000Z'],
    ['0 0 5/10 * *', '2026-03-15T00:00:00.000Z'],
    ['0 0 * * mon/2', '2026-03-11T00:00:00.000Z'],
    ['0 0 13 * 1', '2026-03-13T00:00:00.000Z'],
    ['0 0 20 * 5', '2026-03-13T00:00:00.000Z'],
    ['0 0 */2 * 1', '2026-03-11T00:00:00.000Z'],
    ['0 0 */1 * 1', '2026-03-16T00:00:00.000Z'],
    ['0 0 13 * 5,*', '2026-03-13T00:00:00.000Z'],
    [' @every  1d ', '2026-03-11T10:20:30.000Z'],
  ])('are read from %j', (schedule, time) => {
    expect(cronProblem(schedule, 'UTC')).toBeUndefined()
    expect(next(schedule)).toBe(time)
  })

  test.each([
    '@every',
    '@every soon',
    '@every 30s',
    '@every 400d',
    '@reboot',
    '@daily 3',
    '* * * *',
    '/10 * * * *',
    '0 0 * * 7/2',
    '99,* * * * *',
    '0 0 */1, * *',
  ])('are not read from %j', (schedule) =>
    expect(cronProblem(schedule, 'UTC')).toContain('is not a cron expression'),
  )

  test('that never come are refused, days of leap years are not', () => {
    expect(cronProblem('0 3 31 2,4 *', 'UTC')).toBe(
      '"0 3 31 2,4 *" never comes: none of its months has such a day',
    )
    expect(cronProblem('0 3 29 2 *', 'Europe/Berlin')).toBeUndefined()
  })
})
