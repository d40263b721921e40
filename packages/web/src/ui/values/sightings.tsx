import { Badge, type Tone } from './badge.tsx'
import { column, type Column } from '../lists/column.ts'
import { Time } from './values.tsx'

/** Whether the latest scans still see a finding or an asset. */
export const RecordState = ({ state }: { state: string }) => (
  <Badge tone={state === 'open' ? 'wait' : 'off'}>{state}</Badge>
)

interface Decided {
  readonly seen: string
  readonly verdict: string
  readonly back_at: string | null
}

const STATUSES: Readonly<Record<string, readonly [Tone, string]>> = {
  open: ['wait', 'open'],
  gone: ['good', 'gone'],
  not_tested: ['warn', 'not tested'],
  unreachable: ['warn', 'unreachable'],
  confirmed: ['bad', 'confirmed'],
  false_positive: ['off', 'false positive'],
  accepted: ['off', 'accepted'],
  fixed_claimed: ['busy', 'fixed?'],
  back: ['bad', 'back'],
}

/** Of a finding: the verdict of a person, or else what the last scan saw. */
export const FindingStatus = ({ finding: { seen, verdict, back_at } }: { finding: Decided }) => {
  const status = back_at !== null ? 'back' : verdict === 'none' || seen === 'gone' ? seen : verdict
  const [tone, text] = STATUSES[status] ?? ['wait', status]
  return <Badge tone={tone}>{text}</Badge>
}

interface Seen {
  readonly state: string
  readonly first_seen: string
  readonly last_seen: string
}

/** Columns of lists of findings and assets. */
export const SEEN_COLUMNS: readonly Column<Seen>[] = [
  column('state', 'State', '62px', ({ state }) => <RecordState state={state} />),
  column('first', 'First seen', '70px', ({ first_seen }) => <Time at={first_seen} />),
  column('last', 'Last seen', { width: '78px', sort: 'last_seen' }, ({ last_seen }) => (
    <Time at={last_seen} />
  )),
]
