/**
 * Processes items in order, at most `width` at a time. An item is read only when it can start, and nothing is kept of those
 * that have ended, so that memory does not grow with the number of items. No further item is started once `go` returns
 * false or `work` has rejected.
 */
export const pool = async <Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  width: number,
  work: (item: Item, index: number) => Promise<void>,
  go: () => boolean = () => true,
): Promise<void> => {
  const iterator = Symbol.iterator in items ? items[Symbol.iterator]() : items[Symbol.asyncIterator]()
  let index = 0
  let isOver = false
  const lane = async (): Promise<void> => {
    while (!isOver) {
      const next = await iterator.next()
      if (next.done === true || !go()) isOver = true
      else await work(next.value, index++)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.max(1, width) }, lane))
  } finally {
    isOver = true
    await iterator.return?.()
  }
}
