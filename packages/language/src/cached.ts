/** Maximum number of cached results of a parser. The oldest is evicted first. */
const MAX_CACHED = 10_000

/** Longer texts are seldom parsed twice. */
const MAX_CHARS = 4096

/** Caches the results of a parser by its text, for all runs of a process. Errors are not cached. */
export const cached = <Made>(make: (text: string) => Made): ((text: string) => Made) => {
  const cache = new Map<string, Made>()
  return (text) => {
    const known = cache.get(text)
    if (known !== undefined) return known
    const made = make(text)
    if (text.length > MAX_CHARS) return made
    if (cache.size >= MAX_CACHED) {
      const [oldest] = cache.keys()
      if (oldest !== undefined) cache.delete(oldest)
    }
    cache.set(text, made)
    return made
  }
}
