import { expect, test } from '@jest/globals'
import { WorkflowCache } from '../../src/run/perform.ts'
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

test('Concurrent calls load a workflow once, the most recently used ones stay, and a failed load is not kept', async () => {
  let loads = 0
  let broken = true
  const cache = new WorkflowCache(2, async (hash: string) => {
    loads += 1
    if (hash === 'bad' && broken) throw new Error('away')
    return hash.toUpperCase()
  })
  expect(await Promise.all(['a', 'a', 'a'].map((hash) => cache.get(hash)))).toEqual(['A', 'A', 'A'])
  expect(loads).toBe(1)
  await cache.get('b')
  await cache.get('a')
  await cache.get('c')
  await cache.get('a')
  expect(loads).toBe(3)
  await cache.get('b')
  expect(loads).toBe(4)
  await expect(cache.get('bad')).rejects.toThrow('away')
  broken = false
  expect(await cache.get('bad')).toBe('BAD')
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
