/**
 * Processes items in order, at most `width` at a time. An item is read only when it can start, so that memory does not
 * grow with the number of items. No further item is started once `go` returns false.
 */
export const pool = async <Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  width: number,
  work: (item: Item, index: number) => Promise<void>,
  go: () => boolean = () => true,
): Promise<void> => {
  const running = new Set<Promise<void>>()
  let index = 0
  if (width <= 1 && Symbol.iterator in items) {
    for (const item of items) {
      if (!go()) return
      await work(item, index++)
    }
    return
  }
  for await (const item of items) {
    if (!go()) break
    const task = work(item, index++).finally(() => running.delete(task))
    running.add(task)
    if (running.size >= Math.max(1, width)) await Promise.race(running)
  }
  await Promise.all(running)
}
