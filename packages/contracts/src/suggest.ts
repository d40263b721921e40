/** `Math.min` would take most of the time, because this is called for each pair of letters. */
const less = (a: number, b: number): number => (a < b ? a : b)

/** Edit distance with swaps of adjacent letters. Returns `limit + 1` as soon as the distance must exceed `limit`. */
const distance = (a: string, b: string, limit: number): number => {
  if (a.length - b.length > limit || b.length - a.length > limit) return limit + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  let leastBefore = 0
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let best = less(less((row[j - 1] ?? 0) + 1, (last[j] ?? 0) + 1), (last[j - 1] ?? 0) + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = less(best, (before[j - 2] ?? 0) + 1)
      row.push(best)
      least = less(least, best)
    }
    // A swap refers to the row before the previous one.
    if (least > limit && leastBefore > limit) return limit + 1
    leastBefore = least
    before = last
    last = row
  }
  return last[b.length] ?? limit + 1
}

const MAX_LENGTH = 64

/** The known word that `word` was probably meant to be, if one is close enough. */
export const closest = (word: string, known: Iterable<string>): string | undefined => {
  if (word.length > MAX_LENGTH) return undefined
  const plain = (text: string) => text.toLowerCase().replaceAll(/[-_ ]/g, '')
  const [lower, plainWord] = [word.toLowerCase(), plain(word)]
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const d = plain(candidate) === plainWord ? 0 : distance(lower, candidate.toLowerCase(), bestDistance)
    if (d < bestDistance) {
      best = candidate
      bestDistance = d
    }
  }
  return best
}

/** `Did you mean "x"?`, or `""`. */
export const didYouMean = (word: string, known: Iterable<string>): string => {
  const found = closest(word, known)
  return found === undefined ? '' : `Did you mean "${found}"?`
}
