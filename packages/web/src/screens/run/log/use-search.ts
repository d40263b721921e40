import { useEffect, useState } from 'react'
import { plainOf } from './ansi.ts'
import type { LogStore } from './log-store.ts'

/** Lines with a hit that are kept. */
const MOST_HITS = 10_000
/** Lines of one look, and the time until the screen gets its turn. */
const LINES = 2_000
const TURN_MS = 12

export interface Found {
  /** Lines with a hit, ascending, from 0. */
  readonly hits: readonly number[]
  /** Lines that were searched. */
  readonly seen: number
  readonly more: boolean
}

const NOTHING: Found = { hits: [], seen: 0, more: false }

const hitsIn = (store: LogStore, from: number, to: number, wanted: string): number[] =>
  store
    .text(from, to)
    .split('\n')
    .flatMap((line, index) => (plainOf(line).toLowerCase().includes(wanted) ? [from + index] : []))

/** Searches the loaded lines of a log in turns; lines that arrive later are searched too. */
export const useSearch = (store: LogStore, first: number, lines: number, query: string): Found => {
  const wanted = query.toLowerCase()
  const [result, setResult] = useState({ wanted, store, found: NOTHING })
  const found = result.wanted === wanted && result.store === store ? result.found : NOTHING
  useEffect(() => {
    if (wanted === '' || found.more || found.seen >= lines) return
    const turn = setTimeout(() => {
      const until = performance.now() + TURN_MS
      // A log that begins again has fewer lines than were searched.
      let seen = Math.max(found.seen, first)
      const hits = [...found.hits]
      while (seen < lines && hits.length < MOST_HITS && performance.now() < until) {
        const to = Math.min(lines, seen + LINES)
        hits.push(...hitsIn(store, seen, to, wanted))
        seen = to
      }
      const more = hits.length >= MOST_HITS
      setResult({ wanted, store, found: { hits: hits.slice(0, MOST_HITS), seen, more } })
    })
    return () => clearTimeout(turn)
  }, [wanted, found, first, lines, store])
  return wanted === '' ? NOTHING : found
}
