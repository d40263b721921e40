import { expect, test } from '@jest/globals'
import { PromiseCache } from '../../src/run/promise-cache.ts'
import { startTimer, verdictOf } from '../../src/slots/session.ts'

test('A timer fires once and never early, and a very long one does not fire at once', async () => {
  const times = Array.from({ length: 50 }, (_, n) => 20 + n / 10)
  const delays = times.map((ms) => {
    const start = performance.now()
    return new Promise<number>((resolve) => startTimer(ms, () => resolve(performance.now() - start - ms)))
  })
  expect(Math.min(...(await Promise.all(delays)))).toBeGreaterThanOrEqual(0)
  let early = false
  using _year = startTimer(365 * 86_400_000, () => (early = true))
  await new Promise((resolve) => startTimer(20, () => resolve(undefined)))
  expect(early).toBe(false)
})

test('Concurrent calls load a value once, the most recently used ones stay, and a failed load is not kept', async () => {
  let loads = 0
  let broken = true
  const kept = new PromiseCache<string>(2)
  const load = (key: string): Promise<string> =>
    kept.get(key, async () => {
      loads += 1
      if (key === 'bad' && broken) throw new Error('away')
      return key.toUpperCase()
    })
  expect(await Promise.all(['a', 'a', 'a'].map(load))).toEqual(['A', 'A', 'A'])
  expect(loads).toBe(1)
  await load('b')
  await load('a')
  await load('c')
  await load('a')
  expect(loads).toBe(3)
  await load('b')
  expect(loads).toBe(4)
  await expect(load('bad')).rejects.toThrow('away')
  broken = false
  expect(await load('bad')).toBe('BAD')
})

test.each([
  [undefined, 'completed', '', 'completed', ''],
  [undefined, 'completed', 'artifact x could not be stored', 'failed', 'artifact x could not be stored'],
  [undefined, 'failed', 'and a log', 'failed', 'step a failed; and a log'],
  ['cancel', 'failed', '', 'cancelled', 'cancelled on request'],
  ['timeout', 'failed', '', 'failed', 'run timed out after 2 minutes'],
] as const)(
  'A run with the stop reason %s that %s with the upload problem %j is %s',
  (stopped, status, problem, ended, message) => {
    const outcome = { status, errorMessage: status === 'failed' ? 'step a failed' : '' }
    expect(verdictOf({ stopped }, outcome, problem, 120_000)).toEqual({
      status: ended,
      errorMessage: message,
    })
  },
)
