import { infiniteQueryOptions, type QueryKey } from '@tanstack/react-query'

export interface ListPage<T> {
  readonly data: readonly T[]
  readonly pagination?: { readonly total: number; readonly next_cursor?: string }
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
