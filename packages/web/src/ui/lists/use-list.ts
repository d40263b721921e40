import { useInfiniteQuery, useQuery, type QueryKey, type UseQueryOptions } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { listQuery } from '../../api/list.ts'
import { isGrowing } from '../../live/topics.ts'

/** The records of all pages that are loaded, and what `DataTable` needs to load more. */
export const useList = <T>(query: ReturnType<typeof listQuery<T>>) => {
  const result = useInfiniteQuery(query)
  const pages = result.data?.pages
  // Until the records of other filters arrive, those of the previous ones are shown.
  const key = JSON.stringify(query.queryKey)
  const [shown, setShown] = useState(key)
  if (!result.isPlaceholderData && shown !== key) setShown(key)
  return {
    id: shown,
    growing: isGrowing(query.queryKey),
    rows: useMemo(() => pages?.flatMap(({ data }) => data), [pages]),
    total: pages?.[0]?.pagination?.total,
    error: result.error,
    retry: () => void result.refetch(),
    more: result.hasNextPage,
    loading: result.isFetchingNextPage,
    loadMore: () => void result.fetchNextPage(),
  }
}

/** A list that one answer has whole, for `DataTable`. */
export const useWholeList = <R extends readonly unknown[], K extends QueryKey>(
  query: UseQueryOptions<R, Error, R, K>,
) => {
  const { data: rows, error, refetch } = useQuery(query)
  return { rows, total: rows?.length, error, retry: () => void refetch() }
}
