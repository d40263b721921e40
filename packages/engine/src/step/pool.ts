/** Resolves to the permission to start one item, which is disposed of when the item has ended; undefined: aborted. */
export type Admit = (signal: AbortSignal) => Promise<Disposable | undefined>

/** Saves the exception with its stack that an abort makes without a reason. */
const ENDED = 'no further item is started'

/**
 * Processes items in order, at most `width` at a time. An item is read only when it can start, and nothing is kept of those
 * that have ended, so that memory does not grow with the number of items. No further item is started once `go` returns
 * false or `work` has rejected. With `admit`, one item at a time needs no permission, and each further one does.
 */
export const pool = async <Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  width: number,
  work: (item: Item, index: number) => Promise<void>,
  go: () => boolean = () => true,
  admit?: Admit,
): Promise<void> => {
  const iterator = Symbol.iterator in items ? items[Symbol.iterator]() : items[Symbol.asyncIterator]()
  // Steps that execute one function after the other have no use for its signal, which costs more than the function.
  const waiting = admit === undefined ? undefined : new AbortController()
  let isOver = false
  const end = (): void => {
    isOver = true
    waiting?.abort(ENDED)
  }
  let index = 0
  const next = async (): Promise<void> => {
    const found = await iterator.next()
    if (found.done === true || !go()) end()
    else await work(found.value, index++)
  }
  const thread = async (number: number): Promise<void> => {
    while (!isOver) {
      using _permission = number === 0 || waiting === undefined ? undefined : await admit?.(waiting.signal)
      if (!isOver) await next()
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.max(1, width) }, (_, number) => thread(number)))
  } finally {
    end()
    await iterator.return?.()
  }
}
