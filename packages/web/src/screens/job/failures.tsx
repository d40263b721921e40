import { useAct } from '../../api/act.ts'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { failuresQuery, retryJob, type FailureGroup } from '../../api/jobs.ts'
import {
  Loaded,
  Button,
  EmptyState,
  Link,
  OutcomeBadge,
  RunLink,
  StatusBadge,
  toast,
  toastError,
  plural,
} from '../../ui/index.ts'

const RetryGroup = ({ jobId, group }: { jobId: string; group: FailureGroup }) => {
  const navigate = useNavigate()
  const send = () => {
    const { status, outcome, pattern } = group
    const outcomes = outcome === 'partial' || outcome === 'nothing_done' ? [outcome] : []
    return retryJob(jobId, { pattern, ...(status === 'failed' ? { statuses: ['failed'] } : { outcomes }) })
  }
  const retry = useAct(send, {
    done: ({ message, job_id: made }) => {
      toast(`${message}.`)
      void navigate({ href: `/jobs/${made}` })
    },
    failed: toastError,
  })
  return (
    <Button
      busy={retry.isPending}
      needs="operator"
      aria-label={`Retry ${plural(group.count, 'run')}: ${group.pattern}`}
      onClick={() => retry.mutate()}
    >
      Retry {group.count.toLocaleString()}
    </Button>
  )
}

const Group = ({ jobId, group }: { jobId: string; group: FailureGroup }) => {
  const filter = group.status === 'failed' ? 'status=failed' : `outcome=${group.outcome}`
  return (
    <li className="pad stack gap-4">
      <header className="line failure-head">
        <strong className="number">{group.count.toLocaleString()}</strong>
        {group.status === 'failed' ? (
          <StatusBadge status="failed" />
        ) : (
          <OutcomeBadge outcome={group.outcome} />
        )}
        <code className="failure-message">{group.pattern || 'no message'}</code>
        <RetryGroup jobId={jobId} group={group} />
      </header>
      <details>
        <summary>
          {group.runs
            .slice(0, 3)
            .map(({ target }) => target)
            .join(', ')}
          {group.count > 3 ? ` and ${(group.count - 3).toLocaleString()} more` : ''}
        </summary>
        {group.example === group.pattern ? null : <p className="failure-example">{group.example}</p>}
        <ul className="bullets">
          {group.runs.map((run) => (
            <li key={run.id}>
              <RunLink run={run} />
            </li>
          ))}
          {group.count > group.runs.length ? (
            <li>
              <Link href={`/runs?job_id=${jobId}&${filter}`}>All {filter.replace('=', ' ')}</Link>
            </li>
          ) : null}
        </ul>
      </details>
    </li>
  )
}

/** What failed, by what the messages have in common. */
export const Failures = ({ jobId, ended }: { jobId: string; ended: boolean }) => (
  <Loaded query={useQuery(failuresQuery(jobId, ended))} lines={3}>
    {({ data: groups, other_runs: others, complete }) =>
      groups.length === 0 ? (
        <EmptyState title="Nothing failed">
          {ended
            ? 'Each run did all of its work, or was cancelled.'
            : 'Failures are grouped here by message.'}
        </EmptyState>
      ) : (
        <>
          <ul className="panel list ruled" aria-label="Failures by message">
            {groups.map((group) => (
              <Group key={`${group.status} ${group.outcome} ${group.pattern}`} jobId={jobId} group={group} />
            ))}
          </ul>
          {others === 0 ? null : (
            <p className="muted">
              {plural(others, 'run')} {others === 1 ? 'has another message' : 'have other messages'}.
            </p>
          )}
          {complete ? null : <p className="muted">Only the first 200,000 runs were looked at.</p>}
        </>
      )
    }
  </Loaded>
)
