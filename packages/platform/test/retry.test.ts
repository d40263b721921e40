import { backoffMs } from '@scanfarm/contracts'
import { expect, test } from '@jest/globals'
import { retry, settlesWithin } from '@scanfarm/platform'

const backoff = { firstMs: 1, mostMs: 4 }

test('The wait doubles with each attempt up to the longest one', () => {
  expect([1, 2, 3, 4, 2_000].map((attempt) => backoffMs(attempt, backoff))).toEqual([1, 2, 4, 4, 4])
})

test('A wait with jitter is between half of the wait without it and all of it', () => {
  const waits = Array.from({ length: 100 }, () => backoffMs(3, { ...backoff, jitter: true }))
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(2)
  expect(Math.max(...waits)).toBeLessThanOrEqual(4)
  expect(new Set(waits).size).toBeGreaterThan(1)
})

test('Work is repeated until it succeeds', async () => {
  const failures: number[] = []
  const answer = await retry(
    async () => {
      if (failures.length < 2) throw new Error('not yet')
      return 'done'
    },
    { backoff, shouldRetry: (_error, attempt) => failures.push(attempt) > 0 },
  )
  expect(answer).toBe('done')
  expect(failures).toEqual([1, 2])
})

test('Work that must not be repeated rejects with its error', async () => {
  const work = () => Promise.reject(new Error('final'))
  await expect(retry(work, { backoff, shouldRetry: () => false })).rejects.toThrow('final')
})

test('An abort ends the wait and leaves one last attempt', async () => {
  const stop = new AbortController()
  let attempts = 0
  const work = async () => {
    attempts += 1
    if (attempts === 1) setImmediate(() => stop.abort())
    throw new Error(`attempt ${attempts}`)
  }
  const options = {
    backoff: { firstMs: 60_000, mostMs: 60_000 },
    signal: stop.signal,
    shouldRetry: () => true,
  }
  await expect(retry(work, options)).rejects.toThrow('attempt 2')
})

test('A promise settles in time when it resolves or rejects, and not while it is pending', async () => {
  expect(await settlesWithin(Promise.resolve(), 60_000)).toBe(true)
  expect(await settlesWithin(Promise.reject(new Error('no')), 60_000)).toBe(true)
  expect(await settlesWithin(new Promise(() => {}), 1)).toBe(false)
})
