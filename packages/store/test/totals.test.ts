import { describe, expect, test } from '@jest/globals'
import { makeTotals } from '../src/totals.ts'

/** A clock that the test moves, and counts that take 100 ms of it. */
const world = (total: number) => {
  let clock = 0
  const state = { counts: 0, total }
  const totals = makeTotals(() => clock)
  const count = async (): Promise<number> => {
    state.counts++
    clock += 100
    return state.total
  }
  return { state, of: (key = 'k') => totals.of(key, count), pass: (ms: number) => (clock += ms) }
}

describe('totals', () => {
  test('small ones are counted anew each time', async () => {
    const { state, of } = world(10_000)
    expect(await of()).toBe(10_000)
    state.total = 7
    expect(await of()).toBe(7)
    expect(state.counts).toBe(2)
  })

  test('big ones are good for twenty times what the count took, then served once more while it is taken again', async () => {
    const { state, of, pass } = world(1_000_000)
    expect(await of()).toBe(1_000_000)
    state.total = 1_000_001
    pass(2_000)
    expect(await of()).toBe(1_000_000)
    expect(state.counts).toBe(1)
    pass(1)
    expect(await of()).toBe(1_000_000)
    expect(await of()).toBe(1_000_001)
    expect(state.counts).toBe(2)
  })

  test('very old ones are not served at all', async () => {
    const { state, of, pass } = world(1_000_000)
    await of()
    state.total = 2_000_000
    pass(30_001)
    expect(await of()).toBe(2_000_000)
  })

  test('lists that come at once share one count, and filters do not mix', async () => {
    const { state, of } = world(1_000_000)
    await Promise.all([of(), of(), of()])
    expect(state.counts).toBe(1)
    state.total = 60_000
    expect(await of('other')).toBe(60_000)
    expect(await of()).toBe(1_000_000)
  })
})
