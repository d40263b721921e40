import { useQueries, type QueryKey, type UseQueryOptions } from '@tanstack/react-query'
import { hrefWith } from '../href.ts'
import { Link } from '../link.tsx'

const VIEWS = [
  { label: 'Open', filters: { state: undefined, since: undefined } },
  { label: 'New in 24 h', filters: { state: undefined, since: '24h' } },
  { label: 'Gone', filters: { state: 'gone', since: undefined } },
  { label: 'All', filters: { state: 'open,gone', since: undefined } },
] as const

type Filters = Readonly<Partial<Record<string, string>>>

interface StateViewsProps<F extends Filters, K extends QueryKey> {
  /** Path of the list. */
  readonly path: string
  readonly filters: F
  /** How many match. */
  readonly totalOf: (filters: F) => UseQueryOptions<number, Error, number, K>
  readonly gone?: string
}

/** What is there, what is new, what is gone, with the other filters kept. */
export const StateViews = <F extends Filters, K extends QueryKey>({
  path,
  filters,
  totalOf,
  gone = 'Gone',
}: StateViewsProps<F, K>) => {
  const totals = useQueries({ queries: VIEWS.map((view) => totalOf({ ...filters, ...view.filters })) })
  return (
    <nav className="tabs" aria-label="Views">
      {VIEWS.map(({ label, filters: { state, since } }, index) => (
        <Link
          key={label}
          className="tab"
          href={hrefWith(path, { ...filters, state, since })}
          aria-current={filters['state'] === state && filters['since'] === since ? 'page' : undefined}
        >
          {state === 'gone' ? gone : label}{' '}
          <span className="number">{totals[index]?.data?.toLocaleString()}</span>
        </Link>
      ))}
    </nav>
  )
}
