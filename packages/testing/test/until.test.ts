import { describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { describeWaits } from '../src/index.ts'

describe('until', () => {
  test('returns the first value that is neither undefined nor false', async () => {
    const values = [undefined, false, 0]
    expect(await until(() => values.shift())).toBe(0)
  })

  test('returns the first value that the condition accepts', async () => {
    let count = 0
    const value = await until(
      () => (count += 1),
      (seen) => seen === 3,
    )
    expect(value).toBe(3)
  })

  test('rejects after the limit with the place that waits and the last value', async () => {
    const waiting = until(
      () => 'queued',
      (status) => status === 'running',
      { limitMs: 1 },
    )
    await expect(waiting).rejects.toThrow(/until .*until\.test\.ts:\d+:\d+.*; last: 'queued'$/)
  })

  test('rejects when the poll throws, unless errors are to be survived', async () => {
    const broken = () => {
      throw new Error('refused')
    }
    await expect(until(broken)).rejects.toThrow('refused')
    const options = { what: 'the server answers', limitMs: 1, despiteErrors: true }
    await expect(until(broken, options)).rejects.toThrow(/until the server answers; last: Error: refused/)
  })

  test('lists a wait with its last value while it lasts', async () => {
    let status = 'queued'
    const waiting = until(
      () => status,
      (seen) => seen === 'running',
      { what: 'the run starts' },
    )
    await until(() => describeWaits().some((wait) => /until the run starts; last: 'queued'/.test(wait)))
    status = 'running'
    await waiting
    expect(describeWaits()).toEqual([])
  })
})
