import { describe, expect, test } from '@jest/globals'
import { makeTotals } from '../src/totals.ts'

/** Totals with a clock that the test moves; each count takes 100 ms. */
const testTotals = (total: number) => {
  let clock = 0
  const state = { counts: 0, total }
  const totals = makeTotals(() => clock)
  const count = async (): Promise<number> => {
    state.counts++
    clock += 100
    return state.total
  }
  return {
    state,
    of: (key = 'k') => totals.of(key, count),
    keep: () => totals.keep('k', count, (sum) => sum),
    pass: (ms: number) => (clock += ms),
  }
}

describe('totals', () => {
  test('A small total is counted each time', async () => {
    const { state, of } = testTotals(10_000)
    expect(await of()).toBe(10_000)
    state.total = 7
    expect(await of()).toBe(7)
    expect(state.counts).toBe(2)
  })

  test('A large total is served for twenty times the duration of its count, then once more while it is counted again', async () => {
    const { state, of, pass } = testTotals(1_000_000)
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

  test('A total that is too old is not served', async () => {
    const { state, of, pass } = testTotals(1_000_000)
    await of()
    state.total = 2_000_000
    pass(30_001)
    expect(await of()).toBe(2_000_000)
  })

  test('A large total that is kept is served without a wait at any time, and counted once in a hundred times its duration', async () => {
    const { state, of, keep, pass } = testTotals(1_000_000)
    for (let turn = 0; turn < 30; turn++) {
      await keep()
      pass(2_000)
      const counts = state.counts
      const served = of()
      expect(state.counts - counts).toBeLessThanOrEqual(1)
      expect(await served).toBe(1_000_000)
    }
    expect(state.counts).toBeLessThanOrEqual(30)
    pass(2_000)
    state.total = 5
    await keep()
    pass(10_000)
    await keep()
    expect(await of()).toBe(5)
  })

  test('Concurrent calls share one count, and each filter has its own', async () => {
    const { state, of } = testTotals(1_000_000)
    await Promise.all([of(), of(), of()])
    expect(state.counts).toBe(1)
    state.total = 60_000
    expect(await of('other')).toBe(60_000)
    expect(await of()).toBe(1_000_000)
  })
})
