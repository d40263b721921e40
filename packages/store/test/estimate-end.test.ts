import { expect, test } from '@jest/globals'
import { estimateEnd, RECENT_ENDS } from '../src/jobs/estimate-end.ts'

/** Repeatable random numbers below 1. */
const randoms = (seed: number) => (): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
  return seed / 2 ** 31
}

/** Runs of a farm with `slots` slots whose durations differ by a factor of up to nine; times of the ends, sorted. */
const simulate = (runs: number, slots: number, seed: number) => {
  const random = randoms(seed)
  const free = Array.from({ length: slots }, () => 0)
  const ends = Array.from({ length: runs }, () => {
    free.sort((a, b) => a - b)
    const duration = 2 + 16 * random() ** 2
    const end = (free[0] ?? 0) + duration
    free[0] = end
    return { end, duration }
  })
  return ends.toSorted((a, b) => a.end - b.end)
}

test('the range has the real end of most jobs, and it is not far from the estimate', () => {
  let inside = 0
  let tried = 0
  for (let seed = 1; seed <= 40; seed++) {
    const ends = simulate(1_000, 20, seed)
    const last = ends.at(-1)?.end ?? 0
    for (const done of [50, 300, 700]) {
      const now = ends[done - 1]?.end ?? 0
      const recent = ends.slice(Math.max(0, done - RECENT_ENDS), done)
      const { expected, early, late } = estimateEnd({
        open: 1_000 - done,
        running: 20,
        started: 0,
        now,
        recent: recent.map(({ end }) => end),
        durations: recent.map(({ duration }) => duration).toSorted((a, b) => a - b),
      })
      if (expected === null || early === null || late === null) throw new Error('an estimate was to be known')
      expect(Math.abs(expected - (last - now))).toBeLessThan(0.6 * (last - now))
      tried++
      if (early <= last - now && last - now <= late) inside++
    }
  }
  expect(inside / tried).toBeGreaterThan(0.6)
})

const FACTS = {
  open: 10,
  running: 2,
  started: 0,
  now: 10,
  recent: [1, 2, 3, 4, 5, 6],
  durations: [1, 1, 1, 1, 1, 1],
}

test.each([
  [{ ...FACTS, open: 0 }, 'all runs have ended'],
  [{ ...FACTS, started: null, recent: [] }, 'no run has ended yet'],
  [{ ...FACTS, recent: [1, 2, 3, 4] }, 'fewer than 5 runs have ended'],
  [{ ...FACTS, running: 0 }, 'no run of the job is running'],
])('an estimate that is not known has a reason: %#', (facts, reason) => {
  expect(estimateEnd(facts)).toMatchObject({ expected: null, early: null, late: null, reason })
})

test('a farm that stands still has a later and wider estimate', () => {
  const soon = estimateEnd({ ...FACTS, now: 6 })
  const later = estimateEnd({ ...FACTS, now: 60 })
  expect(later.expected ?? 0).toBeGreaterThan(5 * (soon.expected ?? 0))
})
