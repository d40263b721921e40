import type { JobSummary } from '../../api/jobs.ts'
import { Badge, column, jobLink, OutcomeBadge, StatusBadge, Time, type Column } from '../../ui/index.ts'

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
  column('workflow', 'Workflow', { width: 'minmax(130px, 1.4fr)', sort: 'workflow' }, (job) =>
    jobLink(job.job_id, job.workflow_name),
  ),
  column('status', 'Outcome', { width: '104px', sort: 'outcome' }, (job) => <JobStatus job={job} />),
  column('progress', 'Progress', 'minmax(90px, 1fr)', (job) => <JobBar job={job} />),
  column('ended', 'Ended', { width: '116px', sort: 'targets', align: 'end' }, (job) => (
    <span className="number">
      {ended(job)} of {job.target_count.toLocaleString()}
    </span>
  )),
  column('failed', 'Failed', { width: '70px', sort: 'failed', align: 'end' }, ({ counts }) => (
    <span className={`number ${counts && counts.failed > 0 ? 'tone-bad' : 'muted'}`}>
      {counts?.failed.toLocaleString() ?? '–'}
    </span>
  )),
  column('id', 'Job', '138px', ({ job_id: id }) => <code>{id}</code>),
  column('priority', 'Priority', { width: '78px', sort: 'priority' }, 'priority'),
  column(
    'trigger',
    'Started by',
    { width: '100px', sort: 'trigger' },
    (job) => job.trigger_name || job.trigger_type,
  ),
  column('created', 'Created', { width: '78px', sort: 'created' }, (job) => <Time at={job.created_at} />),
  column('end', 'End', { width: '72px', sort: 'ended' }, (job) => <Time at={job.ended_at} />),
  column('mode', 'Mode', { width: '96px', hidden: true }, 'run_mode'),
  column('retry', 'Retry of', { width: '150px', hidden: true }, ({ retry_of: id }) => jobLink(id)),
]
