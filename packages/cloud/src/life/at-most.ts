/** Does the work for each item, at most `limit` at once. The first rejection is passed on when all have settled. */
export async function atMost<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const lane = async (): Promise<void> => {
    for (const item of waiting) await work(item)
  }
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, lane))
  for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason
}
