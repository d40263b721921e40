import { SEVERITIES } from '../../api/findings.ts'
import type { Night } from '../../api/nights.ts'
import {
  Badge,
  CardTable,
  type CardColumn,
  hrefWith,
  Link,
  OutcomeBadge,
  ReportLink,
  SeverityCounts,
  Time,
} from '../../ui/index.ts'

/** What the last ended job of a schedule did, which the other columns are about, and the job that is running. */
const Outcome = ({ night: { running, last } }: { night: Night }) => (
  <>
    {last ? (
      <div>
        <Link href={`/jobs/${last.job_id}`} className="plain-link">
          {last.is_cancelled ? <Badge tone="off">cancelled</Badge> : <OutcomeBadge outcome={last.outcome} />}
        </Link>{' '}
        <Time at={last.ended_at} />
      </div>
    ) : null}
    {running ? (
      <div>
        <Link href={`/jobs/${running.job_id}`} className="plain-link">
          <Badge tone="busy">running</Badge>
        </Link>{' '}
        since <Time at={running.created_at} />
      </div>
    ) : null}
    {last || running ? null : <span className="muted">never ran</span>}
  </>
)

/** `2 of 3 targets`, if not all of them are clean. */
const unclean = ({ last }: Night): string => {
  if (!last || last.clean === last.target_count) return ''
  return `${(last.target_count - last.clean).toLocaleString()} of ${last.target_count.toLocaleString()} ${last.target_count === 1 ? 'target' : 'targets'}`
}

/** Findings of the workspaces of the night; several workspaces have no common filter. */
const findingsOf = ({ workspace, workspace_count: count }: Night, filters: Record<string, string>): string =>
  hrefWith('/findings', { ...filters, ...(count === 1 ? { workspace } : {}) })

const NotTested = ({ night }: { night: Night }) => {
  const left = unclean(night)
  if (left === '' && night.not_tested === 0) return <span className="muted">–</span>
  return (
    <>
      {left === '' || !night.last ? null : (
        <Link href={`/jobs/${night.last.job_id}?tab=failures`} className="tone-warn">
          {left}
        </Link>
      )}
      {left !== '' && night.not_tested > 0 ? <br /> : null}
      {night.not_tested === 0 ? null : (
        <Link href={changes(night, 'not_tested')} className="tone-warn">
          {night.not_tested.toLocaleString()} {night.not_tested === 1 ? 'finding' : 'findings'}
        </Link>
      )}
    </>
  )
}

const changes = ({ last }: Night, change: string): string =>
  last ? hrefWith('/changes', { job: last.job_id, change }) : '/changes'

/** Orders counts by the worst severity: a number whose first digits count the critical ones. */
const weightOf = (counts: Readonly<Record<string, number>>): string =>
  SEVERITIES.map((severity) => String(counts[severity] ?? 0).padStart(9, '0')).join('')

const COLUMNS: readonly CardColumn<Night>[] = [
  {
    id: 'schedule',
    label: 'Schedule',
    sort: ({ name }) => name,
    cell: (night) => (
      <>
        <Link href={changes(night, '')}>{night.name}</Link>
        <span className="muted small note">
          {night.workflow_name}
          {night.last ? (
            <>
              {' · '}
              <ReportLink of="schedules" id={night.schedule_id} name={night.name} />
            </>
          ) : null}
        </span>
      </>
    ),
  },
  {
    id: 'last',
    label: 'Last run',
    sort: ({ running, last }) => running?.created_at ?? last?.ended_at ?? '',
    cell: (night) => <Outcome night={night} />,
  },
  {
    id: 'next',
    label: 'Next',
    sort: ({ enabled, next_run: next }) => (enabled ? (next ?? '') : ''),
    cell: ({ enabled, next_run: next, trigger_type: type }) => {
      if (!enabled) return <span className="muted">disabled</span>
      return type === 'cron' ? <Time at={next} /> : <span className="muted">on {type}</span>
    },
  },
  ...(['new', 'back', 'gone'] as const).map((change) => ({
    id: change,
    label: change.charAt(0).toUpperCase() + change.slice(1),
    sort: (night: Night) => weightOf(night.findings[change]),
    cell: (night: Night) =>
      Object.keys(night.findings[change]).length === 0 ? (
        <span className="muted">–</span>
      ) : (
        <Link href={changes(night, change)} className="plain-link">
          <SeverityCounts counts={night.findings[change]} />
        </Link>
      ),
  })),
  {
    id: 'open',
    label: 'Open critical, high',
    sort: ({ open: { critical, high } }) => weightOf({ critical: critical ?? 0, high: high ?? 0 }),
    cell: (night) => {
      const { critical = 0, high = 0 } = night.open
      return critical + high === 0 ? (
        <span className="muted">–</span>
      ) : (
        <Link href={findingsOf(night, { severity: 'critical,high' })} className="plain-link">
          <SeverityCounts counts={{ critical, high }} />
        </Link>
      )
    },
  },
  {
    id: 'not-tested',
    label: 'Not tested',
    sort: ({ last, not_tested: findings }) =>
      (last ? last.target_count - last.clean : 0) * 1_000_000_000 + findings,
    cell: (night) => <NotTested night={night} />,
  },
]

interface NightsTableProps {
  readonly nights: readonly Night[]
  readonly isWhole: boolean
  /** The job whose changes are on the screen. */
  readonly chosen?: string | undefined
}

/** A line for each schedule. */
export const NightsTable = ({ nights, isWhole, chosen }: NightsTableProps) => (
  <CardTable
    label="Last runs of the schedules"
    columns={COLUMNS}
    rows={nights}
    keyOf={({ schedule_id: id }) => id}
    isChosen={({ last }) => chosen !== undefined && chosen === last?.job_id}
    isWhole={isWhole}
  />
)
