import '../workers/workers.css'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError, type Schemas } from '../../api/client.ts'
import { requiredToolsQuery, versionQuery, workerQuery } from '../../api/farm.ts'
import {
  jobLink,
  DataTable,
  Duration,
  EmptyState,
  ErrorPanel,
  KeyValues,
  Link,
  Page,
  Progress,
  RunLink,
  Skeleton,
  Time,
  column,
  type Column,
} from '../../ui/index.ts'
import { WorkerActions } from '../workers/actions.tsx'
import {
  Enforcement,
  labelsOf,
  LeaseAge,
  Slots,
  StateBadge,
  stateOf,
  toolsOf,
  Version,
} from '../workers/state.tsx'

type WorkerDetail = Schemas['WorkerDetail']
type WorkerRun = Schemas['WorkerRun']

const COLUMNS: readonly Column<WorkerRun>[] = [
  column('target', 'Target', 'minmax(160px, 2fr)', (run) => <RunLink run={run} />),
  column('workflow', 'Workflow', 'minmax(120px, 1fr)', 'workflow_name'),
  column('job', 'Job', 'minmax(120px, 1fr)', ({ job_id }) => jobLink(job_id)),
  column('attempt', 'Attempt', { width: '70px', align: 'end' }, 'attempt'),
  column('since', 'For', { width: '84px', align: 'end' }, ({ since }) => <Duration from={since} />),
]

/** What the state means, and what happens next. */
const Explanation = ({ worker }: { worker: WorkerDetail }) => {
  const left = worker.runs.length
  switch (stateOf(worker)) {
    case 'lost':
      return (
        <p className="tone-bad">
          ■ Lost: it sent no heartbeat for {Math.round(leaseMs(worker) / 1000)} seconds, so its lease ended{' '}
          <Time at={worker.lease_until} />. Its program or machine has stopped, or it cannot reach the
          database. Its runs start again on other workers; the attempts of each run name it.
        </p>
      )
    case 'pausing':
    case 'stopping':
      return (
        <div className="stack gap-6 tone-warn" role="status">
          <p>
            ▲{' '}
            {stateOf(worker) === 'stopping'
              ? 'It claims no more runs; its program ends when those it has are finished.'
              : 'It claims no more runs and is paused when those it has are finished.'}{' '}
            {worker.drain_until === null ? null : (
              <>
                It waits for them until <Time at={worker.drain_until} />.{' '}
              </>
            )}
            {left === 0 ? 'None is left.' : `${left} ${left === 1 ? 'is' : 'are'} left.`}
          </p>
          <Progress value={worker.slots - left} max={worker.slots} label="Free slots" />
        </div>
      )
    case 'paused':
      return <p className="tone-warn">⊘ Paused: it claims no runs until an operator resumes it.</p>
    default:
      return null
  }
}

const leaseMs = ({ lease_until, last_heartbeat }: WorkerDetail): number =>
  Date.parse(lease_until) - Date.parse(last_heartbeat)

const Words = ({ words, none }: { words: readonly string[]; none: string }) =>
  words.length === 0 ? (
    <p className="muted">{none}</p>
  ) : (
    <ul className="list line gap-6">
      {words.map((word) => (
        <li key={word} className="chip">
          {word}
        </li>
      ))}
    </ul>
  )

/** What workflows require comes first: a machine has thousands of programs, of which a server reports few. */
const Tools = ({ worker }: { worker: WorkerDetail }) => {
  const { data } = useQuery(requiredToolsQuery)
  const has = toolsOf(worker)
  const required = data ?? []
  const versions = new Map(worker.tools.map(({ name, version }) => [name, version]))
  const withVersion = (name: string): string => [name, versions.get(name)].filter(Boolean).join(' ')
  const missing = worker.kind === 'server' ? [] : required.filter((tool) => !has.includes(tool))
  return (
    <section aria-labelledby="tools" className="tools stack gap-6">
      <h2 id="tools">Tools</h2>
      <h3>That workflows require</h3>
      <Words
        words={required.filter((tool) => has.includes(tool)).map(withVersion)}
        none="It has no program that a workflow requires."
      />
      {missing.length === 0 ? null : (
        <>
          <h3>
            <span className="tone-warn">▲ Missing</span>{' '}
            <span className="muted">Runs of workflows that require them do not work here.</span>
          </h3>
          <Words words={missing} none="" />
        </>
      )}
      {has.length === 0 ? null : (
        <details>
          <summary>All its programs ({has.length.toLocaleString()})</summary>
          <Words words={has.map(withVersion)} none="" />
        </details>
      )}
    </section>
  )
}

const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404

export const Screen = () => {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const { data: worker, error, refetch, dataUpdatedAt } = useQuery(workerQuery(id))
  const { data: master } = useQuery(versionQuery)
  if (isGone(error))
    return (
      <Page title={worker?.name ?? 'Worker'}>
        <EmptyState title={worker ? 'This worker has left the farm' : 'There is no such worker'}>
          {worker ? <p>It has ended and handed back what it had not finished.</p> : null}
          <Link href="/workers">See all workers</Link>
        </EmptyState>
      </Page>
    )
  if (!worker)
    return (
      <Page title="Worker">
        {error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />}
      </Page>
    )
  return (
    <Page
      title={worker.name || worker.id}
      commands={[
        { title: 'Read the worker', api: ['GET', `/workers/${worker.id}`] },
        { title: 'Drain it', cli: ['worker', 'drain', worker.id] },
        {
          title: 'Resume it',
          cli: ['worker', 'resume', worker.id],
          api: ['POST', `/workers/${worker.id}/resume`],
        },
      ]}
      actions={<WorkerActions workers={[worker]} />}
    >
      {error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : null}
      <Explanation worker={worker} />
      {master === undefined || master === worker.version ? null : (
        <p className="tone-warn">
          ▲ It has version {worker.version}, and the server {master}. Update the older one.
        </p>
      )}
      <KeyValues
        facts={{
          Status: <StateBadge worker={worker} />,
          Slots: <Slots worker={worker} />,
          'Last heartbeat': <LeaseAge worker={worker} readAt={dataUpdatedAt} />,
          Version: <Version version={worker.version} master={master} />,
          Kind: worker.kind === 'server' ? 'slots of a server' : 'worker',
          Scopes: (
            <span>
              <Enforcement worker={worker} />
              {worker.enforcement_gap ? `: ${worker.enforcement_gap}` : ''}
            </span>
          ),
          Host: worker.hostname,
          Process: worker.pid,
          Joined: <Time at={worker.joined_at} />,
          'Completed runs': worker.tasks_complete.toLocaleString(),
          'Failed runs': worker.tasks_failed.toLocaleString(),
          Id: <code>{worker.id}</code>,
        }}
      />
      <section aria-labelledby="executes">
        <h2 id="executes">Executes now</h2>
        <DataTable
          label="Runs of the worker"
          columns={COLUMNS}
          list={{ rows: worker.runs, total: worker.runs.length }}
          keyOf={({ run_uuid }) => run_uuid}
          none="It executes no run"
        />
      </section>
      {worker.kind === 'worker' || worker.tools.length > 0 ? <Tools worker={worker} /> : null}
      <section aria-labelledby="labels" className="stack gap-6">
        <h2 id="labels">Labels and abilities</h2>
        <Words words={labelsOf(worker)} none="None." />
      </section>
    </Page>
  )
}
