/** Totals up to this are counted anew for each list. */
const EXACT_UP_TO = 10_000
/** A count is good for this many times what it cost, so that counting takes a bounded share of the database. */
const FRESH_FACTOR = 20
/** Up to this many times its freshness a count is still served while a new one is taken in the background. */
const STALE_FACTOR = 10
const LONGEST_STALE_MS = 30_000
const MAX_FILTERS = 500

interface Counted {
  readonly total: number
  readonly at: number
  readonly costMs: number
}

export interface Totals {
  /** The number of rows under a filter; `count` is called when it is not known well enough. */
  of(key: string, count: () => Promise<number>): Promise<number>
}

/**
 * Totals of lists. Small ones are always exact, big ones may be a few seconds old. There are no counter rows in the
 * database: every submit and every end of a run would wait for them.
 */
export function makeTotals(now: () => number = performance.now.bind(performance)): Totals {
  const known = new Map<string, Counted>()
  const inFlight = new Map<string, Promise<number>>()

  const take = (key: string, count: () => Promise<number>): Promise<number> => {
    const running = inFlight.get(key)
    if (running) return running
    const begun = now()
    const taking = count()
      .then((total) => {
        known.delete(key)
        known.set(key, { total, at: now(), costMs: now() - begun })
        const [oldest] = known.keys()
        if (known.size > MAX_FILTERS && oldest !== undefined) known.delete(oldest)
        return total
      })
      .finally(() => inFlight.delete(key))
    inFlight.set(key, taking)
    return taking
  }

  return {
    async of(key, count) {
      const last = known.get(key)
      if (!last || last.total <= EXACT_UP_TO) return take(key, count)
      const age = now() - last.at
      const freshFor = last.costMs * FRESH_FACTOR
      if (age <= freshFor) return last.total
      const refreshed = take(key, count)
      if (age > Math.min(LONGEST_STALE_MS, freshFor * STALE_FACTOR)) return refreshed
      // A failing refresh shows itself in the next list that has to wait for one.
      refreshed.catch(() => undefined)
      return last.total
    },
  }
}
