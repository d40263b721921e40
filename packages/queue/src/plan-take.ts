/** The order of messages: by rank, then by place, then by the age of the run. */
export interface Head {
  /** The lowest rank is taken first. 0: the message was returned from a dead consumer and precedes its queue. */
  readonly rank: number
  /** Among the messages with its rank; 0: without. */
  readonly place: number
  readonly runId: number
}

/**
 * How many messages to take from each queue to get the first `max` ones. Places and run ids grow with time, so no class
 * starves another one.
 *
 * @param heads the first messages of each queue, in the order in which they would be taken
 */
export const planTake = (heads: readonly (readonly Head[])[], max: number): number[] => {
  const counts = heads.map(() => 0)
  for (let taken = 0; taken < max; taken += 1) {
    const next = firstOf(heads, counts)
    if (next === undefined) break
    counts[next] = (counts[next] ?? 0) + 1
  }
  return counts
}

const firstOf = (heads: readonly (readonly Head[])[], counts: readonly number[]): number | undefined => {
  let first: { queue: number; head: Head } | undefined
  heads.forEach((queued, queue) => {
    const head = queued[counts[queue] ?? 0]
    if (head !== undefined && (first === undefined || isBefore(head, first.head))) first = { queue, head }
  })
  return first?.queue
}

const isBefore = (a: Head, b: Head): boolean =>
  (a.rank - b.rank || a.place - b.place || a.runId - b.runId) < 0
