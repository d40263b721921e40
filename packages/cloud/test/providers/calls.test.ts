import { describe, expect, test } from '@jest/globals'
import { CloudError } from '../../src/provider.ts'
import { callOnce, problemOfStatus, repeatSafe, retryAfterMs } from '../../src/providers/calls.ts'
import { baseOf } from '../../src/providers/endpoint.ts'
import { keptFor } from '../../src/providers/kept.ts'

const problemOf = (error: unknown) => new CloudError('refused', String(error))
const never = new AbortController().signal
const options = { signal: never, problemOf, firstWaitMs: 1 }
const unavailable = (retryAfterMs?: number) => new CloudError('unavailable', 'later', { retryAfterMs })

describe('one call', () => {
  test('ends when its time is over, also one that does not listen', async () => {
    let told: AbortSignal | undefined
    const call = (signal: AbortSignal) => {
      told = signal
      return new Promise<never>(() => {})
    }
    await expect(callOnce(call, { ...options, timeoutMs: 20 })).rejects.toMatchObject({
      problem: 'unavailable',
      message: 'no answer within 0.02 s',
    })
    expect(told?.aborted).toBe(true)
  })

  test('says what went wrong as the provider explains it, and passes on what is explained already', async () => {
    const explained = unavailable()
    await expect(callOnce(() => Promise.reject(new Error('x')), options)).rejects.toMatchObject({
      problem: 'refused',
      message: 'Error: x',
    })
    await expect(callOnce(() => Promise.reject(explained), options)).rejects.toBe(explained)
  })

  test('is not made for a caller who has gone', async () => {
    let calls = 0
    const signal = AbortSignal.abort('gone')
    await expect(callOnce(async () => calls++, { ...options, signal })).rejects.toBe('gone')
    expect(calls).toBe(0)
  })
})

describe('repeating', () => {
  const failing = (times: number, error: Error) => {
    let calls = 0
    const call = async () => {
      if (++calls <= times) throw error
      return calls
    }
    return { call, calls: () => calls }
  }

  test('goes on until it works, at most as often as allowed', async () => {
    expect(await repeatSafe(failing(3, unavailable()).call, options)).toBe(4)
    const { call, calls } = failing(9, unavailable())
    await expect(repeatSafe(call, { ...options, tries: 3 })).rejects.toMatchObject({ message: 'later' })
    expect(calls()).toBe(3)
  })

  test('does not insist on what was refused', async () => {
    const { call, calls } = failing(1, new CloudError('capacity', 'none'))
    await expect(repeatSafe(call, options)).rejects.toMatchObject({ problem: 'capacity' })
    expect(calls()).toBe(1)
  })

  test('waits as long as the provider says, unless that is too long', async () => {
    const start = performance.now()
    await repeatSafe(failing(1, unavailable(60)).call, options)
    expect(performance.now() - start).toBeGreaterThan(55)
    const { call, calls } = failing(1, unavailable(61))
    await expect(repeatSafe(call, { ...options, longestWaitMs: 60 })).rejects.toMatchObject({
      retryAfterMs: 61,
    })
    expect(calls()).toBe(1)
  })

  test('stops in the middle of a wait when its caller stops', async () => {
    const stop = new AbortController()
    const reason = new Error('enough')
    const waiting = repeatSafe(
      async () => {
        queueMicrotask(() => stop.abort(reason))
        throw unavailable(20_000)
      },
      { ...options, signal: stop.signal },
    )
    await expect(waiting).rejects.toBe(reason)
  })
})

describe('what providers say', () => {
  test.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:12 GMT' }, 2_000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:01 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'ratelimit-reset': '15' }, 5_000],
    [{ 'x-ratelimit-reset': '15' }, 5_000],
    [{ 'retry-after': '1', 'ratelimit-reset': '15' }, 1_000],
    [{}, undefined],
  ])('%j at ten seconds past the epoch means %j ms', (headers, expected) => {
    const given = new Map(Object.entries(headers))
    expect(retryAfterMs((name) => given.get(name), 10_000)).toBe(expected)
  })

  test.each([
    [401, 'credentials'],
    [403, 'credentials'],
    [402, 'refused'],
    [422, 'refused'],
    [408, 'unavailable'],
    [429, 'unavailable'],
    [503, 'unavailable'],
  ])('%i means %s', (status, problem) => {
    expect(problemOfStatus(status)).toBe(problem)
  })
})

test.each(['https://a.example', 'https://a.example/', 'https://a.example/v4', 'https://a.example/v4beta/'])(
  'the endpoint %s is that of all versions',
  (endpoint) => {
    expect(baseOf(endpoint)).toBe('https://a.example')
  },
)

test('what is kept is loaded again when it is old, and never kept when it failed', async () => {
  let now = 0
  let loads = 0
  const kept = keptFor(
    100,
    async () => {
      if (++loads === 2) throw new Error('not now')
      return loads
    },
    () => now,
  )
  expect([await kept(never), await kept(never)]).toEqual([1, 1])
  now = 100
  await expect(kept(never)).rejects.toThrow('not now')
  expect(await kept(never)).toBe(3)
})
