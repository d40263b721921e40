import { setImmediate as nextTurn } from 'node:timers/promises'

/** One kind of batched statement. */
export interface GroupCommit<Item, Result> {
  /** Writes a batch with unique keys in one statement. */
  send(items: readonly Item[]): Promise<readonly Result[]>
  keyOfItem(item: Item): string
  keyOfResult(result: Result): string
  /** Most items in one statement. */
  readonly maxItems: number
  /** Size of an item, and the most in one statement; a single call may exceed it. Missing: no limit. */
  readonly size?: { of(item: Item): number; readonly most: number }
  /** Calls of one turn of the event loop share the first statement too. */
  readonly sharesTurn?: boolean
}

interface Call<Item, Result> {
  readonly items: readonly Item[]
  readonly keys: ReadonlySet<string>
  resolve(results: Result[]): void
  reject(error: unknown): void
}

const sizeOf = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0)

/**
 * Group commit: calls that arrive while a statement is in flight share the next statement, in their order. A call resolves
 * to the results with its own keys. If a statement of several calls fails, each call is sent again separately, so that a
 * bad value fails only its own call. Keys must be unique within a call.
 */
export function groupCommit<Item, Result>(options: GroupCommit<Item, Result>) {
  const waiting: Call<Item, Result>[] = []
  let busy = false

  const take = (): Call<Item, Result>[] => {
    const taken: Call<Item, Result>[] = []
    const keys = new Set<string>()
    let items = 0
    let size = 0
    for (let next = waiting[0]; next; next = waiting[0]) {
      size += options.size === undefined ? 0 : sizeOf(next.items, options.size.of)
      const fits =
        items + next.items.length <= options.maxItems &&
        size <= (options.size?.most ?? Infinity) &&
        keys.isDisjointFrom(next.keys)
      if (taken.length > 0 && !fits) break
      taken.push(next)
      waiting.shift()
      items += next.items.length
      for (const key of next.keys) keys.add(key)
    }
    return taken
  }

  const settle = async (calls: readonly Call<Item, Result>[]): Promise<void> => {
    try {
      const results = await options.send(calls.flatMap((call) => call.items))
      for (const call of calls)
        call.resolve(results.filter((result) => call.keys.has(options.keyOfResult(result))))
    } catch (error) {
      const [only] = calls
      if (calls.length === 1 && only) only.reject(error)
      else for (const call of calls) await settle([call])
    }
  }

  const pump = async (): Promise<void> => {
    busy = true
    if (options.sharesTurn === true) await nextTurn()
    while (waiting.length > 0) await settle(take())
    busy = false
  }

  return (items: readonly Item[]): Promise<Result[]> => {
    if (items.length === 0) return Promise.resolve([])
    const { promise, resolve, reject } = Promise.withResolvers<Result[]>()
    waiting.push({ items, keys: new Set(items.map(options.keyOfItem)), resolve, reject })
    if (!busy) void pump()
    return promise
  }
}
