import { expect, test } from '@jest/globals'
import { etaText, roughTime } from '../src/client/eta.ts'

test.each([
  [0.2, '1 s'],
  [59.6, '60 s'],
  [89, '89 s'],
  [120, '2 min'],
  [5_000, '83 min'],
  [7_200, '2.0 h'],
  [200_000, '2.3 d'],
])('%d seconds are about %s', (seconds, text) => {
  expect(roughTime(seconds)).toBe(text)
})

test('an estimate is shown with its range', () => {
  const text = (expected: number | null, early: number | null, late: number | null): string =>
    etaText({ eta: { expected_seconds: expected, early_seconds: early, late_seconds: late } })
  expect(text(null, null, null)).toBe('')
  expect(text(600, 480, 900)).toBe('  ends in about 10 min (8 min to 15 min)')
  expect(text(600, 480, null)).toBe('  ends in about 10 min (8 min to unknown)')
  expect(text(600, 600, 601)).toBe('  ends in about 10 min')
})
