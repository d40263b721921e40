import type { JobSummary } from '../../api/jobs.ts'
import { Badge, Link, OutcomeBadge, StatusBadge, Time, type Column } from '../../ui/index.ts'

/** Completed is good only if all runs did all of their work. */
export const JobStatus = ({ job: { status, outcome } }: { job: JobSummary }) => {
  if (status === 'open') return <Badge tone="busy">open</Badge>
  if (status === 'completed' && outcome !== null) return <OutcomeBadge outcome={outcome} />
  return status === 'partial' ? <Badge tone="warn">partial</Badge> : <StatusBadge status={status} />
}

/** Parts of a bar, in the order of a run's life from its end. */
const PARTS = [
  ['completed', 'good'],
  ['failed', 'bad'],
  ['cancelled', 'off'],
  ['running', 'busy'],
] as const

/** How far a job is, as one bar; the numbers are its text. */
export const JobBar = ({ job: { counts, target_count: total } }: { job: JobSummary }) => {
  if (counts === null) return <span className="muted">counting</span>
  const text = [...PARTS.map(([name]) => name), 'pending' as const]
    .filter((name) => counts[name] > 0)
    .map((name) => `${counts[name].toLocaleString()} ${name}`)
    .join(', ')
  return (
    <span className="job-bar" role="img" aria-label={text} title={text}>
      {PARTS.map(([name, tone]) => (
        <span
          key={name}
          className={`tone-${tone} job-part-${name}`}
          style={{ width: `${(counts[name] / Math.max(total, 1)) * 100}%` }}
        />
      ))}
    </span>
  )
}

const ended = ({ counts }: JobSummary): string =>
  counts === null ? '–' : (counts.completed + counts.failed + counts.cancelled).toLocaleString()

export const COLUMNS: readonly Column<JobSummary>[] = [
  {
    id: 'workflow',
    label: 'Workflow',
    width: 'minmax(130px, 1.4fr)',
    sort: 'workflow',
    cell: (job) => <Link href={`/jobs/${job.job_id}`}>{job.workflow_name}</Link>,
  },
  { id: 'status', label: 'Outcome', width: '104px', sort: 'outcome', cell: (job) => <JobStatus job={job} /> },
  { id: 'progress', label: 'Progress', width: 'minmax(90px, 1fr)', cell: (job) => <JobBar job={job} /> },
  {
    id: 'ended',
    label: 'Ended',
    width: '116px',
    align: 'end',
    sort: 'targets',
    cell: (job) => (
      <span className="number">
        {ended(job)} of {job.target_count.toLocaleString()}
      </span>
    ),
  },
  {
    id: 'failed',
    label: 'Failed',
    width: '70px',
    align: 'end',
    sort: 'failed',
    cell: ({ counts }) => (
      <span className={`number ${counts && counts.failed > 0 ? 'tone-bad' : 'muted'}`}>
        {counts?.failed.toLocaleString() ?? '–'}
      </span>
    ),
  },
  { id: 'id', label: 'Job', width: '138px', cell: ({ job_id: id }) => <code>{id}</code> },
  { id: 'priority', label: 'Priority', width: '78px', sort: 'priority', cell: ({ priority }) => priority },
  {
    id: 'trigger',
    label: 'Started by',
    width: '100px',
    sort: 'trigger',
    cell: (job) => job.trigger_name || job.trigger_type,
  },
  {
    id: 'created',
    label: 'Created',
    width: '78px',
    sort: 'created',
    cell: (job) => <Time at={job.created_at} />,
  },
  { id: 'end', label: 'End', width: '72px', sort: 'ended', cell: (job) => <Time at={job.ended_at} /> },
  { id: 'mode', label: 'Mode', width: '96px', hidden: true, cell: ({ run_mode: mode }) => mode },
  {
    id: 'retry',
    label: 'Retry of',
    width: '150px',
    hidden: true,
    cell: ({ retry_of: id }) => (id === '' ? '' : <Link href={`/jobs/${id}`}>{id}</Link>),
  },
]
