/**
 * How many messages to take from each queue so that together they are the `max` with the lowest ranks. Equal ranks
 * are dealt out in turn, so that no class starves another one.
 *
 * @param heads ranks of the first messages of each queue, lowest first
 */
export const planTake = (heads: readonly (readonly number[])[], max: number): number[] => {
  const counts = heads.map(() => 0)
  for (let taken = 0; taken < max; taken += 1) {
    const best = cheapest(heads, counts)
    if (best === undefined) break
    counts[best] = (counts[best] ?? 0) + 1
  }
  return counts
}

const cheapest = (heads: readonly (readonly number[])[], counts: readonly number[]): number | undefined => {
  let best: { queue: number; rank: number; taken: number } | undefined
  heads.forEach((ranks, queue) => {
    const taken = counts[queue] ?? 0
    const rank = ranks[taken]
    if (rank === undefined) return
    if (!best || rank < best.rank || (rank === best.rank && taken < best.taken)) best = { queue, rank, taken }
  })
  return best?.queue
}
