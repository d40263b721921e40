import { infiniteQueryOptions, type QueryKey } from '@tanstack/react-query'

export interface ListPage<T> {
  readonly data: readonly T[]
  readonly pagination?: { readonly total?: number; readonly next_cursor?: string }
}

/** A list that is read page by page with cursors, for `useList` and `DataTable`. */
export const listQuery = <T>(key: QueryKey, read: (cursor: string | undefined) => Promise<ListPage<T>>) =>
  infiniteQueryOptions({
    queryKey: key,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.pagination?.next_cursor,
    placeholderData: (before) => before,
  })

interface OffsetPage<T> {
  readonly data: readonly T[]
  readonly pagination: { readonly total: number; readonly offset: number; readonly limit: number }
}

/** A list of a route that knows offsets only. */
export const offsetQuery = <T>(key: QueryKey, read: (offset: number) => Promise<OffsetPage<T>>) =>
  listQuery(key, async (cursor): Promise<ListPage<T>> => {
    const { data, pagination } = await read(Number(cursor ?? 0))
    const next = pagination.offset + data.length
    const more = data.length > 0 && next < pagination.total
    return { data, pagination: { total: pagination.total, ...(more ? { next_cursor: String(next) } : {}) } }
  })
