import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import type { listQuery } from '../api/list.ts'

/** The records of all pages that are loaded, and what `DataTable` needs to load more. */
export const useList = <T>(query: ReturnType<typeof listQuery<T>>) => {
  const result = useInfiniteQuery(query)
  const pages = result.data?.pages
  // Until the records of other filters arrive, those of the previous ones are shown.
  const shown = useRef('')
  if (!result.isPlaceholderData) shown.current = JSON.stringify(query.queryKey)
  return {
    id: shown.current,
    rows: useMemo(() => pages?.flatMap(({ data }) => data), [pages]),
    total: pages?.[0]?.pagination?.total,
    error: result.error,
    retry: () => void result.refetch(),
    more: result.hasNextPage,
    loading: result.isFetchingNextPage,
    loadMore: () => void result.fetchNextPage(),
  }
}
