import { describe, expect, test } from '@jest/globals'
import { CloudError } from '../../src/provider.ts'
import { cached, callOnce, callWithRetry } from '../../src/providers/calls.ts'
import { problemOfStatus, retryAfterMs } from '../../src/providers/errors.ts'
import { apiRoot } from '../../src/providers/rest-api.ts'

const problemOf = (error: unknown) => new CloudError('refused', String(error))
const never = new AbortController().signal
const options = { signal: never, problemOf, firstWaitMs: 1 }
const unavailable = (retryAfterMs?: number) => new CloudError('unavailable', 'later', { retryAfterMs })

describe('callOnce', () => {
  test('ends at its time limit, also if the call ignores the signal', async () => {
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

  test('converts errors, and passes CloudErrors through', async () => {
    const explained = unavailable()
    await expect(callOnce(() => Promise.reject(new Error('x')), options)).rejects.toMatchObject({
      problem: 'refused',
      message: 'Error: x',
    })
    await expect(callOnce(() => Promise.reject(explained), options)).rejects.toBe(explained)
  })

  test('makes no call if the signal is aborted', async () => {
    let calls = 0
    const signal = AbortSignal.abort('gone')
    await expect(callOnce(async () => calls++, { ...options, signal })).rejects.toBe('gone')
    expect(calls).toBe(0)
  })
})

describe('callWithRetry', () => {
  const failing = (times: number, error: Error) => {
    let calls = 0
    const call = async () => {
      if (++calls <= times) throw error
      return calls
    }
    return { call, calls: () => calls }
  }

  test('repeats the call until it succeeds or the tries are used up', async () => {
    expect(await callWithRetry(failing(3, unavailable()).call, options)).toBe(4)
    const { call, calls } = failing(9, unavailable())
    await expect(callWithRetry(call, { ...options, tries: 3 })).rejects.toMatchObject({ message: 'later' })
    expect(calls()).toBe(3)
  })

  test('does not repeat refused calls', async () => {
    const { call, calls } = failing(1, new CloudError('capacity', 'none'))
    await expect(callWithRetry(call, options)).rejects.toMatchObject({ problem: 'capacity' })
    expect(calls()).toBe(1)
  })

  test('waits as long as the provider asks for, unless that is too long', async () => {
    const start = performance.now()
    await callWithRetry(failing(1, unavailable(60)).call, options)
    expect(performance.now() - start).toBeGreaterThan(55)
    const { call, calls } = failing(1, unavailable(61))
    await expect(callWithRetry(call, { ...options, longestWaitMs: 60 })).rejects.toMatchObject({
      retryAfterMs: 61,
    })
    expect(calls()).toBe(1)
  })

  test('rejects during a wait when the signal aborts', async () => {
    const stop = new AbortController()
    const reason = new Error('enough')
    const waiting = callWithRetry(
      async () => {
        queueMicrotask(() => stop.abort(reason))
        throw unavailable(20_000)
      },
      { ...options, signal: stop.signal },
    )
    await expect(waiting).rejects.toBe(reason)
  })
})

describe('The response of a provider', () => {
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
  'the API root of %s has no version',
  (endpoint) => {
    expect(apiRoot(endpoint)).toBe('https://a.example')
  },
)

test('cached loads again after its time to live, and never caches failures', async () => {
  let now = 0
  let loads = 0
  const kept = cached(
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
