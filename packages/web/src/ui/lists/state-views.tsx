import { hrefWith } from '../href.ts'
import { Link } from '../link.tsx'

const VIEWS = [
  { label: 'Open', state: undefined, since: undefined },
  { label: 'New in 24 h', state: undefined, since: '24h' },
  { label: 'Gone', state: 'gone', since: undefined },
  { label: 'All', state: 'open,gone', since: undefined },
] as const

interface StateViewsProps {
  /** Path of the list. */
  readonly path: string
  readonly filters: Readonly<Partial<Record<string, string>>>
  /** Counts of open and gone records with the other filters. */
  readonly facets?: {
    readonly complete: boolean
    readonly state: readonly { readonly value: string; readonly count: number }[]
  }
  readonly gone?: string
  /** How many are new. */
  readonly fresh?: number
}

/** What is there, what is new, what is gone, with the other filters kept. */
export const StateViews = ({ path, filters, facets, gone = 'Gone', fresh }: StateViewsProps) => {
  const stateCount = (state: string) => facets?.state.find(({ value }) => value === state)?.count ?? 0
  const counts = [stateCount('open'), fresh, stateCount('gone'), stateCount('open') + stateCount('gone')]
  const countText = (index: number): string => {
    if (index !== 1 && facets === undefined) return ''
    return `${counts[index]?.toLocaleString() ?? ''}${index !== 1 && facets?.complete === false ? '+' : ''}`
  }
  return (
    <nav className="views line gap-4" aria-label="Views">
      {VIEWS.map(({ label, state, since }, index) => (
        <Link
          key={label}
          className="tab"
          href={hrefWith(path, { ...filters, state, since })}
          aria-current={filters['state'] === state && filters['since'] === since ? 'page' : undefined}
        >
          {state === 'gone' ? gone : label} <span className="number">{countText(index)}</span>
        </Link>
      ))}
    </nav>
  )
}
