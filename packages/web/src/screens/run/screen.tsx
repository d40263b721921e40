import './run.css'
import type { RunDetail } from '@scanfarm/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useRefusal } from '../../api/role.ts'
import {
  attemptsQuery,
  cancelRun,
  duplicateRun,
  retryRuns,
  runEventsQuery,
  runQuery,
  startRun,
} from '../../api/runs.ts'
import {
  Button,
  Commands,
  Confirm,
  DataTable,
  Duration,
  EmptyState,
  itemsText,
  JsonView,
  KeyValues,
  Link,
  OutcomeBadge,
  Page,
  RecordPage,
  StatusBadge,
  Time,
  toast,
  UrlTabs,
  useList,
} from '../../ui/index.ts'
import { Artifacts } from './artifacts.tsx'
import { Attempts, Killed } from './attempts.tsx'
import { Log } from './log.tsx'
import { QueuePlace } from './queue-place.tsx'
import { Steps } from './steps.tsx'

const Events = ({ uuid }: { uuid: string }) => (
  <DataTable
    label="Events of the run"
    list={useList(runEventsQuery(uuid))}
    keyOf={(event) => String(event.id)}
    empty={<EmptyState title="No events yet" />}
    columns={[
      { id: 'at', label: 'Time', width: '90px', cell: (event) => <Time at={event.created_at} /> },
      { id: 'topic', label: 'Topic', width: '160px', cell: (event) => event.topic },
      { id: 'data', label: 'Data', width: 'minmax(240px, 3fr)', cell: (event) => <code>{event.data}</code> },
    ]}
  />
)

const Actions = ({ run }: { run: RunDetail }) => {
  const id = run.run_uuid
  const navigate = useNavigate()
  const queries = useQueryClient()
  const refusal = useRefusal('operator')
  const ended = run.completed_at !== null
  const goodEnd = run.status === 'completed' && run.outcome !== 'partial' && run.outcome !== 'nothing_done'
  const onError = (reason: Error) => toast(reason.message, 'bad')
  const again = useMutation({
    mutationFn: async () => {
      const copy = await duplicateRun(id)
      await startRun(copy.run_uuid)
      return copy.run_uuid
    },
    onSuccess: (uuid) => navigate({ href: `/runs/${uuid}` }),
    onError,
  })
  const retry = useMutation({
    mutationFn: async () => {
      const [result] = await retryRuns([id])
      if (result?.run_uuid === undefined) throw new Error(result?.message ?? 'This run cannot be retried.')
      return result
    },
    onSuccess: ({ result, run_uuid: uuid }) => {
      if (result === 'running') toast('A retry of this run exists already.')
      void navigate({ href: `/runs/${uuid}` })
    },
    onError,
  })
  return (
    <>
      <Commands
        lines={[
          { title: 'Read the run', cli: ['steps', id], api: ['GET', `/runs/${id}`] },
          { title: 'Follow its log', cli: ['logs', id, '-f'], api: ['GET', `/runs/${id}/log?follow=true`] },
          ...(ended
            ? [
                {
                  title: 'Retry the run',
                  api: ['POST', '/runs/retry', { ids: [id] }] as const,
                },
              ]
            : [{ title: 'Cancel the run', cli: ['cancel', id], api: ['DELETE', `/runs/${id}`] as const }]),
        ]}
      />
      <Button busy={again.isPending} refusal={refusal} onClick={() => again.mutate()}>
        Duplicate
      </Button>
      {ended && !goodEnd ? (
        <Button kind="primary" busy={retry.isPending} refusal={refusal} onClick={() => retry.mutate()}>
          Retry
        </Button>
      ) : null}
      {ended ? null : (
        <Confirm
          trigger="Cancel"
          title="Cancel this run?"
          action="Cancel the run"
          danger
          refusal={refusal}
          onConfirm={async () => {
            const { message } = await cancelRun(id)
            toast(message)
            await queries.invalidateQueries({ queryKey: ['run'] })
          }}
        >
          <p>Its processes are terminated. The page shows which ones were killed.</p>
        </Confirm>
      )}
    </>
  )
}

/** Why the run waits, failed, or did not do all its work. */
const Notices = ({ run }: { run: RunDetail }) => (
  <>
    {run.waiting_reason === '' ? null : (
      <p className="notice notice-warn">
        <strong>Waiting:</strong> {run.waiting_reason}. <QueuePlace run={run} />
      </p>
    )}
    {run.error_message === '' ? null : (
      <p className="notice notice-bad">
        <strong>{run.status === 'failed' ? 'Failed:' : 'Error:'}</strong> {run.error_message}
      </p>
    )}
    {run.outcome_reasons.length === 0 ? null : (
      <div className="notice notice-warn">
        <strong>Why not all work was done</strong>
        <ul className="bullets">
          {run.outcome_reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      </div>
    )}
    {run.status === 'cancelled' ? (
      <p className="notice notice-off" role="status">
        {run.killed_pids.length > 0 ? (
          <Killed pids={run.killed_pids} />
        ) : (
          'Cancelled. No process of the run was reported as killed.'
        )}
      </p>
    ) : null}
  </>
)

/** By its name; a worker that is not known any more by the beginning of its id. */
const Worker = ({ run: { run_uuid, worker_id, completed_at } }: { run: RunDetail }) => {
  const { data: attempts } = useQuery(attemptsQuery(run_uuid, completed_at !== null))
  const attempt = attempts?.find((one) => one.worker_id === worker_id)
  return (
    <Link href={`/workers/${encodeURIComponent(worker_id)}`} title={worker_id}>
      {attempt?.worker || worker_id.slice(0, 8)}
    </Link>
  )
}

const Facts = ({ run }: { run: RunDetail }) => (
  <KeyValues
    facts={[
      ['Status', <StatusBadge key="status" status={run.status} />],
      ['Outcome', run.outcome === '' ? '' : <OutcomeBadge key="outcome" outcome={run.outcome} />],
      ['Took', <Duration key="took" from={run.started_at} to={run.completed_at} />],
      ['Steps', `${run.completed_steps} of ${run.total_steps}`],
      ['Attempt', run.attempt],
      ['Created', <Time key="created" at={run.created_at} />],
      [
        'Workflow',
        <Link key="workflow" href={`/workflows/${encodeURIComponent(run.workflow_name)}`}>
          {run.workflow_name}
        </Link>,
      ],
      [
        'Job',
        <Link key="job" href={`/jobs/${run.run_group_id}`}>
          {run.run_group_id}
        </Link>,
      ],
      [
        'Executes',
        run.loop_items === null ? (
          ''
        ) : (
          <span key="loop">
            {itemsText(run.loop_items)} of{' '}
            <Link href={`/runs/${run.loop_run_uuid}`}>the run with the loop</Link>
          </span>
        ),
      ],
      ['Worker', run.worker_id === '' ? '' : <Worker key="worker" run={run} />],
      ['Workspace', run.workspace],
      ['Mode', run.run_mode],
      ['Priority', run.priority],
      [
        'Findings',
        <Link key="findings" href={`/findings?run_id=${run.run_uuid}`}>
          Findings of this run
        </Link>,
      ],
    ]}
  />
)

const Details = ({ run }: { run: RunDetail }) => (
  <div className="stack">
    <h2>Params</h2>
    {Object.keys(run.params).length === 0 ? (
      <p className="muted">The run has no params.</p>
    ) : (
      <KeyValues facts={Object.entries(run.params)} />
    )}
    {run.tools.length === 0 ? null : (
      <>
        <h2>Versions of its programs</h2>
        <KeyValues facts={run.tools.map(({ name, version }) => [name, version])} />
      </>
    )}
    {Object.keys(run.facts).length === 0 ? null : (
      <>
        <h2>Facts</h2>
        <KeyValues facts={Object.entries(run.facts)} />
      </>
    )}
    <h2>JSON</h2>
    <JsonView value={run} label="The run as JSON" />
  </div>
)

const RunPage = ({ run }: { run: RunDetail }) => {
  const ended = run.completed_at !== null
  return (
    <Page
      title={`${run.target || `Run ${run.id}`} · ${run.workflow_name}`}
      heading={
        <>
          {run.target || `Run ${run.id}`} <span className="muted">· {run.workflow_name}</span>
        </>
      }
      actions={<Actions run={run} />}
    >
      <Notices run={run} />
      <Facts run={run} />
      <UrlTabs
        label="Parts of the run"
        tabs={[
          { id: 'steps', label: 'Steps', content: <Steps run={run} /> },
          {
            id: 'log',
            label: 'Log',
            content: (
              <Log
                run={run.run_uuid}
                attempt={run.attempt}
                grows={!ended}
                label="Log of the run"
                file={`run-${run.id}.log`}
              />
            ),
          },
          { id: 'attempts', label: 'Attempts', content: <Attempts id={run.run_uuid} ended={ended} /> },
          { id: 'artifacts', label: 'Artifacts', content: <Artifacts id={run.run_uuid} ended={ended} /> },
          { id: 'events', label: 'Events', content: <Events uuid={run.run_uuid} /> },
          { id: 'details', label: 'Details', content: <Details run={run} /> },
        ]}
      />
    </Page>
  )
}

export const Screen = () => {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  return (
    <RecordPage name="Run" query={useQuery(runQuery(id))}>
      {(run) => <RunPage run={run} />}
    </RecordPage>
  )
}
