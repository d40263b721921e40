/** Totals up to this are counted anew for each list. */
const EXACT_UP_TO = 10_000
/** A count is good for this many times what it cost, so that counting takes a bounded share of the database. */
const FRESH_FACTOR = 20
/** Up to this many times its freshness a count is still served while a new one is taken in the background. */
const STALE_FACTOR = 10
const LONGEST_STALE_MS = 30_000
const MAX_FILTERS = 500

interface Counted {
  readonly value: unknown
  readonly total: number
  readonly at: number
  readonly costMs: number
}

export interface Totals {
  /** The number of rows under a filter; `count` is called when it is not known well enough. */
  of(key: string, count: () => Promise<number>): Promise<number>
  /** The same for several counts that one statement makes; `sizeOf` adds them up. */
  group<T>(key: string, count: () => Promise<T>, sizeOf: (counts: T) => number): Promise<T>
}

/**
 * Totals of lists. Small ones are always exact, big ones may be a few seconds old. There are no counter rows in the
 * database: every submit and every end of a run would wait for them.
 */
export function makeTotals(now: () => number = performance.now.bind(performance)): Totals {
  const known = new Map<string, Counted>()
  const inFlight = new Map<string, Promise<unknown>>()

  const take = <T>(key: string, count: () => Promise<T>, sizeOf: (counts: T) => number): Promise<T> => {
    const running = inFlight.get(key)
    if (running) return running as Promise<T>
    const begun = now()
    const taking = count()
      .then((value) => {
        known.delete(key)
        known.set(key, { value, total: sizeOf(value), at: now(), costMs: now() - begun })
        const [oldest] = known.keys()
        if (known.size > MAX_FILTERS && oldest !== undefined) known.delete(oldest)
        return value
      })
      .finally(() => inFlight.delete(key))
    inFlight.set(key, taking)
    return taking
  }

  const group: Totals['group'] = async <T>(
    key: string,
    count: () => Promise<T>,
    sizeOf: (counts: T) => number,
  ): Promise<T> => {
    const last = known.get(key)
    if (!last || last.total <= EXACT_UP_TO) return take(key, count, sizeOf)
    const age = now() - last.at
    const freshFor = last.costMs * FRESH_FACTOR
    if (age <= freshFor) return last.value as T
    const refreshed = take(key, count, sizeOf)
    if (age > Math.min(LONGEST_STALE_MS, freshFor * STALE_FACTOR)) return refreshed
    // A failing refresh shows itself in the next list that has to wait for one.
    refreshed.catch(() => undefined)
    return last.value as T
  }

  return { of: (key, count) => group(key, count, (total) => total), group }
}
