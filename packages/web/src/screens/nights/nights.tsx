import './nights.css'
import { useInfiniteQuery } from '@tanstack/react-query'
import { nightsQuery, type Night } from '../../api/nights.ts'
import { ErrorPanel, Link, More, SeverityCounts, Skeleton } from '../../ui/index.ts'
import { NightsTable } from './table.tsx'

/** The schedules that are loaded, and how to load more. */
export const useNights = () => {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(nightsQuery)
  return {
    nights: data?.pages.flatMap((page): readonly Night[] => page.data),
    open: data?.pages[0]?.open,
    error,
    retry: () => void refetch(),
    more: hasNextPage,
    onSight: error || isFetchingNextPage ? undefined : () => void fetchNextPage(),
  }
}

/** What happened in the last night: the first thing on the console. */
export const Nights = () => {
  const { nights, open, error, retry, more, onSight } = useNights()
  if (!nights || !open) return error ? <ErrorPanel error={error} onRetry={retry} /> : <Skeleton lines={4} />
  return (
    <section aria-label="Nights">
      {error ? <ErrorPanel error={error} onRetry={retry} /> : null}
      <p className="open-findings">
        <Link href="/findings" className="plain-link">
          Open findings
        </Link>{' '}
        <SeverityCounts counts={open} />
      </p>
      {nights.length === 0 ? (
        <p className="muted">
          No schedule yet. <Link href="/triggers">Create one</Link>, and each morning this page shows what is
          new, what is gone and what was not tested.
        </p>
      ) : (
        <NightsTable nights={nights} isWhole={!more} />
      )}
      {more ? <More onSight={onSight} /> : null}
    </section>
  )
}
