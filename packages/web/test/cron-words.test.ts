import { expect, test } from '@jest/globals'
import { cronWords } from '../src/screens/triggers/cron-words.ts'

test.each([
  ['0 3 * * 1-5', 'At 03:00, Monday through Friday'],
  ['*/5 * * * *', 'Every 5 minutes'],
  ['@daily', 'At 00:00'],
  ['@every 2h', 'Every 2h after the last firing'],
  ['0 9 1 * *', 'At 09:00, on day 1 of the month'],
  ['0 3 * *', '0 3 * *'],
  ['0 99 * * *', '0 99 * * *'],
])('words of %s', (schedule, words) => {
  expect(cronWords(schedule)).toBe(words)
})

test.each([
  ['0 0 13 * 5', 'At 00:00, on day 13 of the month, or on Friday'],
  ['0 0 1,15 * 1-5', 'At 00:00, on day 1 and 15 of the month, or Monday through Friday'],
  ['0 0 13 6 5', 'At 00:00, on day 13 of the month, or on Friday, only in June'],
  ['0 0 1 */2 MON,WED', 'At 00:00, on day 1 of the month, or on Monday and Wednesday, every 2 months'],
])('a restricted day and weekday fire on either: %s', (schedule, words) => {
  expect(cronWords(schedule)).toBe(words)
})
