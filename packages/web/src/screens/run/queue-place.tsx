import type { RunDetail } from '@scanfarm/client'
import { useQuery } from '@tanstack/react-query'
import { queuePlaceQuery } from '../../api/runs.ts'
import { Link, plural } from '../../ui/index.ts'

/** From this many older runs on the API counts no further. */
const DEEP = 1_000

const ENDINGS: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' }
const ordinal = (number: number): string =>
  `${number.toLocaleString()}${ENDINGS[new Intl.PluralRules('en', { type: 'ordinal' }).select(number)] ?? 'th'}`

/** Where a waiting run is in the queue. */
export const QueuePlace = ({ run }: { run: RunDetail }) => {
  const { data: place } = useQuery(queuePlaceQuery(run.run_uuid))
  if (!place) return null
  const { position, exact, waiting, more_urgent: urgent } = place
  const before = position - 1
  const where = exact
    ? `${ordinal(position)} of ${waiting.toLocaleString()}`
    : `${before < DEEP ? 'At least' : 'More than'} ${before.toLocaleString()} of ${waiting.toLocaleString()} before it`
  return (
    <span>
      {where} at priority {run.priority}.
      {urgent > 0 ? ` ${plural(urgent, 'run')} of higher priority start first.` : ''}{' '}
      <Link href={`/queue?priority=${run.priority}`}>See the queue</Link>
    </span>
  )
}
