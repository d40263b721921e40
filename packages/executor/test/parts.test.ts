import { expect, test } from '@jest/globals'
import { startAlarm } from '../src/alarm.ts'
import { WorkflowCache } from '../src/workflow-cache.ts'
import { verdictOf } from '../src/verdict.ts'

test('An alarm rings once after its time, and a long one does not ring at once', async () => {
  const times = Array.from({ length: 50 }, (_, n) => 20 + n / 10)
  const delays = times.map((ms) => {
    const start = performance.now()
    return new Promise<number>((resolve) => startAlarm(ms, () => resolve(performance.now() - start - ms)))
  })
  expect(Math.min(...(await Promise.all(delays)))).toBeGreaterThanOrEqual(0)
  let early = false
  using _year = startAlarm(365 * 86_400_000, () => (early = true))
  await new Promise((resolve) => startAlarm(20, () => resolve(undefined)))
  expect(early).toBe(false)
})

test('A workflow is loaded once however many ask, the most recently used stay, a failure is not kept', async () => {
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
  'Stopped by %s, a run that %s with the problem %j is %s',
  (stopped, status, problem, ended, message) => {
    const outcome = { status, errorMessage: status === 'failed' ? 'step a failed' : '' }
    expect(verdictOf({ stopped }, outcome, problem, 120_000)).toEqual({
      status: ended,
      errorMessage: message,
    })
  },
)
