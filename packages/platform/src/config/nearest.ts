const MAX_DISTANCE = 3

const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1]
    for (const [j, other] of b.split('').entries())
      next.push(
        Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1),
      )
    row = next
  }
  return row[b.length] ?? 0
}

/** The candidate that was probably meant, or `undefined` when none is close. */
export const nearest = (word: string, candidates: readonly string[]): string | undefined => {
  const [best] = candidates
    .map((candidate) => ({ candidate, away: distance(word, candidate) }))
    .sort((a, b) => a.away - b.away)
  return best !== undefined && best.away <= MAX_DISTANCE ? best.candidate : undefined
}
