import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../api/client.ts'
import { attemptsQuery } from '../../api/runs.ts'
import { Loaded, workerLink, timeIf, Badge, Duration, EmptyState, KeyValues } from '../../ui/index.ts'

type Attempt = Schemas['RunAttempt']

const ENDINGS = {
  running: ['busy', 'running'],
  completed: ['good', 'completed'],
  failed: ['bad', 'failed'],
  cancelled: ['off', 'cancelled'],
  worker_lost: ['bad', 'worker lost'],
  machine_lost: ['bad', 'machine lost'],
  handed_back: ['warn', 'handed back'],
} as const

/** The proof of a cancel: which processes no longer exist. */
export const Killed = ({ pids }: { pids: readonly number[] }) => (
  <span>
    ✓ {pids.length} {pids.length === 1 ? 'process was' : 'processes were'} killed: pid{' '}
    <span className="number">{pids.join(', ')}</span>
  </span>
)

const OneAttempt = ({ attempt }: { attempt: Attempt }) => {
  const [tone, ending] = ENDINGS[attempt.ending]
  return (
    <li className="panel pad stack">
      <header className="line wrap">
        <h3>Attempt {attempt.attempt}</h3>
        <Badge tone={tone}>{ending}</Badge>
      </header>
      {attempt.reason === '' ? null : <p>{attempt.reason}</p>}
      {attempt.killed_pids.length === 0 ? null : <Killed pids={attempt.killed_pids} />}
      <KeyValues
        facts={{
          Worker: workerLink(attempt.worker_id, attempt.worker || attempt.worker_id),
          Host: attempt.hostname,
          Process: attempt.pid === 0 ? '' : attempt.pid,
          Version: attempt.version,
          Machine: attempt.machine,
          Started: timeIf(attempt.started_at),
          Took:
            attempt.started_at === null ? '' : <Duration from={attempt.started_at} to={attempt.ended_at} />,
          'Last heartbeat': timeIf(attempt.heard_at),
        }}
      />
    </li>
  )
}

export const Attempts = ({ id, ended }: { id: string; ended: boolean }) => (
  <Loaded query={useQuery(attemptsQuery(id, ended))} lines={3}>
    {(attempts) =>
      attempts.length === 0 ? (
        <EmptyState title="No attempt yet">A worker has not claimed this run.</EmptyState>
      ) : (
        <ol className="list stack" aria-label="Attempts">
          {attempts.toReversed().map((attempt) => (
            <OneAttempt key={attempt.attempt} attempt={attempt} />
          ))}
        </ol>
      )
    }
  </Loaded>
)
