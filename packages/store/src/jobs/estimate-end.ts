/** Ends from which the rate is estimated. */
export const RECENT_ENDS = 200
/** Fewer ends say too little about the rate. */
const LEAST_ENDS = 5
const SLICES = 8
const SLICES_OF_WINDOW = 3

export interface Estimate {
  /** Ended runs per second, lately. */
  readonly rate: number | null
  /** Seconds until the last run ends: expected, and so that one in ten ends earlier or later. Null: not known. */
  readonly expected: number | null
  readonly early: number | null
  readonly late: number | null
  /** Why something is not known, or "". */
  readonly reason: string
}

interface Facts {
  readonly open: number
  readonly running: number
  readonly started: number | null
  readonly now: number
  /** When the latest runs ended, in ascending order, and how long they took, sorted; all in seconds. */
  readonly recent: readonly number[]
  readonly durations: readonly number[]
}

const unknown = (reason: string, rate: number | null = null): Estimate => ({
  rate,
  expected: null,
  early: null,
  late: null,
  reason,
})

/** The value at a share of a sorted list, interpolated. */
const quantile = (sorted: readonly number[], share: number): number => {
  const place = share * (sorted.length - 1)
  const low = sorted[Math.floor(place)] ?? 0
  return low + ((sorted[Math.ceil(place)] ?? low) - low) * (place - Math.floor(place))
}

/**
 * When the last open run of a job ends, from the latest ends. The spread are the rates of overlapping parts of that time:
 * a steady farm has a narrow one. Time since the last end counts, so that a farm that stands still has a late end.
 */
export const estimateEnd = ({ open, running, started, now, recent, durations }: Facts): Estimate => {
  if (open === 0) return unknown('all runs have ended')
  const [first] = recent
  if (started === null || first === undefined) return unknown('no run has ended yet')
  if (recent.length < LEAST_ENDS) return unknown(`fewer than ${LEAST_ENDS} runs have ended`)
  // With more ends than were read, the time begins with the first of these.
  const begin = recent.length < RECENT_ENDS ? started : first
  const ends = recent.filter((at) => at > begin)
  const span = Math.max(now - begin, 0.001)
  const rate = ends.length / span
  if (running === 0) return unknown('no run of the job is running', rate)

  const slice = span / SLICES
  const counts = Array.from({ length: SLICES }, () => 0)
  for (const at of ends) {
    const place = Math.min(SLICES - 1, Math.floor((at - begin) / slice))
    counts[place] = (counts[place] ?? 0) + 1
  }
  const rates = Array.from({ length: SLICES - SLICES_OF_WINDOW + 1 }, (_, from) => {
    const sum = counts.slice(from, from + SLICES_OF_WINDOW).reduce((total, count) => total + count, 0)
    return sum / (slice * SLICES_OF_WINDOW)
  }).sort((a, b) => a - b)
  // The number of ends is random, also on a steady farm: one standard deviation of it is the least spread.
  const chance = rate / Math.sqrt(ends.length)
  const slow = Math.max(Math.min(quantile(rates, 0.1), rate - chance), 0)
  const fast = Math.max(quantile(rates, 0.9), rate + chance)
  // The last runs take as long as a run takes, whatever the rate.
  const tail = open <= running ? quantile(durations, 0.5) / 2 : 0
  const expected = Math.max(open / rate, tail)
  return {
    rate,
    expected,
    early: Math.min(open / fast, expected),
    late: slow === 0 ? null : Math.max(open / slow, quantile(durations, 0.9), expected),
    reason: slow === 0 ? 'runs end too irregularly for a latest time' : '',
  }
}
