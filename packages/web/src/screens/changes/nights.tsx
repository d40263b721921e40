import { useQuery } from '@tanstack/react-query'
import {
  jobChangesQuery,
  NIGHT_CHANGES,
  type ChangedFinding,
  type Night,
  type NightChange,
} from '../../api/nights.ts'
import {
  DataTable,
  EmptyState,
  ErrorPanel,
  FindingStatus,
  hrefWith,
  Link,
  Loaded,
  More,
  Severity,
  Skeleton,
  sumOf,
  Time,
  column,
  type Column,
} from '../../ui/index.ts'
import { useNights } from '../nights/nights.tsx'
import { NightsTable } from '../nights/table.tsx'
import { Kinds } from './kinds.tsx'

const NAMES: Readonly<Record<NightChange, string>> = {
  new: '+ New',
  back: '↩ Back',
  gone: '− Gone',
  not_tested: '? Not tested',
}

const COLUMNS: readonly Column<ChangedFinding>[] = [
  column('severity', 'Severity', '88px', ({ severity }) => <Severity severity={severity} />),
  column('title', 'Finding', 'minmax(200px, 2fr)', ({ id, vuln_title: title, vuln_info: check }) => (
    <Link href={`/findings/${id}`} title={title}>
      {title || check || `finding ${id}`}
    </Link>
  )),
  column('place', 'Asset', 'minmax(160px, 2fr)', 'asset_value'),
  column('state', 'Now', '120px', (finding) => <FindingStatus finding={finding} />),
  column('why', 'Why', 'minmax(160px, 3fr)', 'seen_reason'),
]

/** The findings that a job changed, since the job before it or since another one. */
const JobChanges = ({
  job,
  since,
  night,
  change: wanted,
  onChange,
}: {
  job: string
  since: string | undefined
  /** Of the schedule whose last or previous job it is. */
  night: Night | undefined
  /** Undefined: the first with findings. */
  change: NightChange | undefined
  onChange: (change: NightChange) => void
}) => (
  <Loaded query={useQuery(jobChangesQuery(job, since))}>
    {(changes) => {
      const ended = [night?.last, night?.previous].find((each) => each?.job_id === job)?.ended_at
      const before = night?.last?.job_id === job ? night.previous?.job_id : undefined
      const change = wanted ?? NIGHT_CHANGES.find((each) => sumOf(changes.counts[each]) > 0) ?? 'new'
      return (
        <>
          <p>
            What <Link href={`/jobs/${job}`}>job {job}</Link>
            {ended === undefined ? null : (
              <>
                , ended <Time at={ended} />,
              </>
            )}{' '}
            changed
            {since === undefined ? null : (
              <>
                {' '}
                since <Link href={`/jobs/${since}`}>job {since}</Link>
              </>
            )}
            {before === undefined ? null : (
              <>
                {' · '}
                <Link href={hrefWith('/changes', { job: before })}>The night before</Link>
              </>
            )}
          </p>
          <Kinds
            names={NAMES}
            countOf={(each) => sumOf(changes.counts[each])}
            chosen={change}
            onChange={onChange}
          />
          <DataTable
            key={`${job} ${change}`}
            label={`Findings: ${NAMES[change]}`}
            columns={COLUMNS.filter(
              ({ id }) => id !== 'why' || changes[change].some((one) => one.seen_reason),
            )}
            list={{ rows: changes[change], total: sumOf(changes.counts[change]) }}
            keyOf={({ id }) => String(id)}
            none="No such finding"
            advice="Choose another kind of change."
          />
        </>
      )
    }}
  </Loaded>
)

/** The last two runs of each schedule, and what changed between those of one of them. */
export const NightChanges = ({
  search,
  set,
}: {
  search: Readonly<{ job?: string; since?: string; change?: string }>
  set: (changes: { job?: string; since?: string; change?: string }) => void
}) => {
  const { nights, error, retry, more, onSight } = useNights()
  if (!nights) return error ? <ErrorPanel error={error} onRetry={retry} /> : <Skeleton lines={6} />
  const job = search.job ?? nights.find(({ last }) => last !== null)?.last?.job_id
  return (
    <div className="stack">
      {nights.length === 0 ? null : <NightsTable nights={nights} isWhole={!more} chosen={job} />}
      {more ? <More onSight={onSight} /> : null}
      {job === undefined ? (
        <EmptyState title="No schedule has run yet">
          <Link href="/triggers">Create a schedule</Link>, or compare two times or two runs.
        </EmptyState>
      ) : (
        <JobChanges
          job={job}
          since={search.since}
          change={NIGHT_CHANGES.find((each) => each === search.change)}
          night={nights.find(({ last, previous }) => [last?.job_id, previous?.job_id].includes(job))}
          onChange={(change) => set({ change })}
        />
      )}
    </div>
  )
}
