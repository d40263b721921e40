/**
 * Works through items, at most `width` at a time, in the order in which they come. Takes the next item only when
 * there is room for it, so that a source of millions costs no memory. `go` says whether to take another one.
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
