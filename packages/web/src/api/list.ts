import { infiniteQueryOptions, queryOptions, type QueryKey } from '@tanstack/react-query'
import { answer, dataOf } from './client.ts'

export interface ListPage<T> {
  readonly data: readonly T[]
  readonly pagination?: { readonly total?: number; readonly next_cursor?: string }
}
type Answer<T> = Promise<{ readonly data: T }>

/** What a route answers. */
export const answerQuery = <T>(key: QueryKey, read: () => Answer<T>) =>
  queryOptions({ queryKey: key, queryFn: () => answer(read()) })

/** What a route answers below `data`: a record, or a whole list. */
export const dataQuery = <T>(key: QueryKey, read: () => Answer<{ readonly data: T }>) =>
  queryOptions({ queryKey: key, queryFn: () => dataOf(read()) })

/** Of a query: the data of other filters is shown until its own has arrived. */
export const keepBefore = { placeholderData: <T>(before: T): T => before }

/** The data of a query, or of a function that makes one. */
export type DataOf<Q> = Q extends { queryFn?: infer F }
  ? F extends (...given: never[]) => infer R
    ? Awaited<R>
    : never
  : Q extends (...given: never[]) => infer R
    ? DataOf<R>
    : never

/** A list that is read page by page with cursors, for `useList` and `DataTable`. */
export const listQuery = <T>(key: QueryKey, read: (cursor: string | undefined) => Answer<ListPage<T>>) =>
  infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam }) => answer(read(pageParam)),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.pagination?.next_cursor,
    placeholderData: (before) => before,
  })

interface OffsetPage<T> {
  readonly data: readonly T[]
  readonly pagination: { readonly total: number; readonly offset: number; readonly limit: number }
}

/** A list of a route that knows offsets only. */
export const offsetQuery = <T>(key: QueryKey, read: (offset: number) => Answer<OffsetPage<T>>) =>
  listQuery(key, async (cursor): Answer<ListPage<T>> => {
    const { data, pagination } = await answer(read(Number(cursor ?? 0)))
    const next = pagination.offset + data.length
    const more = data.length > 0 && next < pagination.total
    const { total } = pagination
    return { data: { data, pagination: { total, ...(more ? { next_cursor: String(next) } : {}) } } }
  })
