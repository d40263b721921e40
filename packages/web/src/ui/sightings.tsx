import { Badge } from './badge.tsx'
import type { Column } from './data-table.tsx'
import { Time } from './values.tsx'

/** Whether the latest scans still see a finding or an asset. */
export const RecordState = ({ state }: { state: string }) => (
  <Badge tone={state === 'open' ? 'wait' : 'off'}>{state}</Badge>
)

interface Seen {
  readonly state: string
  readonly first_seen: string
  readonly last_seen: string
}

/** Columns of lists of findings and assets. */
export const SEEN_COLUMNS: readonly Column<Seen>[] = [
  { id: 'state', label: 'State', width: '62px', cell: ({ state }) => <RecordState state={state} /> },
  { id: 'first', label: 'First seen', width: '70px', cell: ({ first_seen }) => <Time at={first_seen} /> },
  { id: 'last', label: 'Last seen', width: '70px', cell: ({ last_seen }) => <Time at={last_seen} /> },
]
