/** Totals up to this are counted for each list. */
const EXACT_UP_TO = 10_000
/** A count is fresh for this many times the time that it took, so that counting uses a bounded share of the database. */
const FRESH_FACTOR = 20
/** Up to this many times its freshness a stale count is returned while it is refreshed in the background. */
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
  /** The number of rows for a filter; `count` is called unless a recent count is known. */
  of(key: string, count: () => Promise<number>): Promise<number>
  /** The same for several counts of one statement; `sizeOf` is their sum. */
  group<T>(key: string, count: () => Promise<T>, sizeOf: (counts: T) => number): Promise<T>
  /**
   * Counts again before the last counts are too old to be returned at once. Called every few seconds it keeps a `group`
   * from waiting for the count of many rows, for the same bounded share of the database.
   */
  keep<T>(key: string, count: () => Promise<T>, sizeOf: (counts: T) => number): Promise<void>
  /** Whether the next call answers without a count of many rows. */
  isCheap(key: string): boolean
}

/**
 * Totals of lists. Small totals are exact, large ones may be a few seconds old. The database has no counter rows, since
 * every submit and every end of a run would wait for them.
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

  const staleAfter = ({ costMs }: Counted): number =>
    Math.min(LONGEST_STALE_MS, costMs * FRESH_FACTOR * STALE_FACTOR)

  /** Few rows may become many at any time. */
  const refreshAfter = (last: Counted): number =>
    last.total <= EXACT_UP_TO
      ? LONGEST_STALE_MS / 2
      : Math.max(staleAfter(last) / 2, last.costMs * FRESH_FACTOR)

  const isCheap = (key: string): boolean => {
    const last = known.get(key)
    return last !== undefined && (last.total <= EXACT_UP_TO || now() - last.at <= staleAfter(last))
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
    if (age > staleAfter(last)) return refreshed
    // The next list that waits for a refresh reports the failure.
    refreshed.catch(() => undefined)
    return last.value as T
  }

  const keep: Totals['keep'] = async (key, count, sizeOf) => {
    const last = known.get(key)
    if (!last || now() - last.at >= refreshAfter(last)) await take(key, count, sizeOf)
  }

  return { of: (key, count) => group(key, count, (total) => total), group, keep, isCheap }
}
