import { answer, api, byId } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import './run.css'
import type { RunDetail } from '@scanfarm/client'
import type { EventEntry } from '../../api/automation.ts'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { attemptsQuery, retryRuns, runEventsQuery, runQuery } from '../../api/runs.ts'
import {
  type CommandLine,
  workflowLink,
  jobLink,
  Button,
  Confirm,
  DataTable,
  Duration,
  itemsText,
  JsonView,
  KeyValues,
  Link,
  Notice,
  OutcomeBadge,
  Page,
  recordScreen,
  StatusBadge,
  Time,
  toast,
  toastError,
  tab,
  UrlTabs,
  useList,
  column,
} from '../../ui/index.ts'
import { Artifacts } from './artifacts.tsx'
import { Attempts, Killed } from './attempts.tsx'
import { Log } from './log.tsx'
import { QueuePlace } from './queue-place.tsx'
import { Steps } from './steps.tsx'

const Events = ({ uuid }: { uuid: string }) => (
  <DataTable<EventEntry>
    label="Events of the run"
    list={useList(runEventsQuery(uuid))}
    keyOf={(event) => String(event.id)}
    none="No events yet"
    columns={[
      column('at', 'Time', '90px', (event) => <Time at={event.created_at} />),
      column('topic', 'Topic', '160px', 'topic'),
      column('data', 'Data', 'minmax(240px, 3fr)', (event) => <code>{event.data}</code>),
    ]}
  />
)

const commandsOf = ({ run_uuid: id, completed_at }: RunDetail): readonly CommandLine[] => [
  { title: 'Read the run', cli: ['steps', id], api: ['GET', `/runs/${id}`] },
  { title: 'Follow its log', cli: ['logs', id, '-f'], api: ['GET', `/runs/${id}/log?follow=true`] },
  completed_at === null
    ? { title: 'Cancel the run', cli: ['cancel', id], api: ['DELETE', `/runs/${id}`] }
    : { title: 'Retry the run', api: ['POST', '/runs/retry', { ids: [id] }] },
]

const Actions = ({ run }: { run: RunDetail }) => {
  const id = run.run_uuid
  const navigate = useNavigate()
  const ended = run.completed_at !== null
  const goodEnd = run.status === 'completed' && run.outcome !== 'partial' && run.outcome !== 'nothing_done'
  const open = (uuid: string | undefined) => void navigate({ href: `/runs/${uuid}` })
  const duplicate = async () => {
    const copy = await answer(api.POST('/runs/{id}/duplicate', byId(id)))
    await api.POST('/runs/{id}/start', byId(copy.run_uuid))
    return copy.run_uuid
  }
  const retryOne = async () => {
    const [result] = await retryRuns([id])
    if (result?.run_uuid === undefined) throw new Error(result?.message ?? 'This run cannot be retried.')
    if (result.result === 'running') toast('A retry of this run exists already.')
    return result.run_uuid
  }
  const again = useAct(duplicate, { done: open, failed: toastError })
  const retry = useAct(retryOne, { done: open, failed: toastError })
  return (
    <>
      <Button busy={again.isPending} needs="operator" onClick={() => again.mutate()}>
        Duplicate
      </Button>
      {ended && !goodEnd ? (
        <Button kind="primary" busy={retry.isPending} needs="operator" onClick={() => retry.mutate()}>
          Retry
        </Button>
      ) : null}
      {ended ? null : (
        <Confirm
          trigger="Cancel"
          title="Cancel this run?"
          action="Cancel the run"
          danger
          needs="operator"
          refresh={['run']}
          onConfirm={() => answer(api.DELETE('/runs/{id}', byId(id)))}
          text="Its processes are terminated. The page shows which ones were killed."
        />
      )}
    </>
  )
}

/** Why the run waits, failed, or did not do all its work. */
const Notices = ({ run }: { run: RunDetail }) => (
  <>
    {run.waiting_reason === '' ? null : (
      <Notice tone="warn">
        <strong>Waiting:</strong> {run.waiting_reason}. <QueuePlace run={run} />
      </Notice>
    )}
    {run.error_message === '' ? null : (
      <Notice tone="bad">
        <strong>{run.status === 'failed' ? 'Failed:' : 'Error:'}</strong> {run.error_message}
      </Notice>
    )}
    {run.outcome_reasons.length === 0 ? null : (
      <Notice tone="warn">
        <strong>Why not all work was done</strong>
        <ul className="bullets">
          {run.outcome_reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      </Notice>
    )}
    {run.status === 'cancelled' ? (
      <Notice tone="off" role="status">
        {run.killed_pids.length > 0 ? (
          <Killed pids={run.killed_pids} />
        ) : (
          'Cancelled. No process of the run was reported as killed.'
        )}
      </Notice>
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
    facts={{
      Status: <StatusBadge status={run.status} />,
      Outcome: run.outcome === '' ? '' : <OutcomeBadge outcome={run.outcome} />,
      Took: <Duration from={run.started_at} to={run.completed_at} />,
      Steps: `${run.completed_steps} of ${run.total_steps}`,
      Attempt: run.attempt,
      Created: <Time at={run.created_at} />,
      Workflow: workflowLink(run.workflow_name),
      Job: jobLink(run.run_group_id),
      Executes:
        run.loop_items === null ? (
          ''
        ) : (
          <span>
            {itemsText(run.loop_items)} of{' '}
            <Link href={`/runs/${run.loop_run_uuid}`}>the run with the loop</Link>
          </span>
        ),
      Worker: run.worker_id === '' ? '' : <Worker run={run} />,
      Workspace: run.workspace,
      Mode: run.run_mode,
      Priority: run.priority,
      Findings: <Link href={`/findings?run_id=${run.run_uuid}`}>Findings of this run</Link>,
    }}
  />
)

const Details = ({ run }: { run: RunDetail }) => (
  <div className="stack">
    <h2>Params</h2>
    {Object.keys(run.params).length === 0 ? (
      <p className="muted">The run has no params.</p>
    ) : (
      <KeyValues facts={run.params} />
    )}
    {run.tools.length === 0 ? null : (
      <>
        <h2>Versions of its programs</h2>
        <KeyValues facts={Object.fromEntries(run.tools.map(({ name, version }) => [name, version]))} />
      </>
    )}
    {Object.keys(run.facts).length === 0 ? null : (
      <>
        <h2>Facts</h2>
        <KeyValues facts={run.facts} />
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
      commands={commandsOf(run)}
      actions={<Actions run={run} />}
    >
      <Notices run={run} />
      <Facts run={run} />
      <UrlTabs
        label="Parts of the run"
        tabs={[
          tab('steps', 'Steps', <Steps run={run} />),
          tab(
            'log',
            'Log',
            <Log
              run={run.run_uuid}
              attempt={run.attempt}
              grows={!ended}
              label="Log of the run"
              file={`run-${run.id}.log`}
            />,
          ),
          tab('attempts', 'Attempts', <Attempts id={run.run_uuid} ended={ended} />),
          tab('artifacts', 'Artifacts', <Artifacts id={run.run_uuid} ended={ended} />),
          tab('events', 'Events', <Events uuid={run.run_uuid} />),
          tab('details', 'Details', <Details run={run} />),
        ]}
      />
    </Page>
  )
}

export const Screen = recordScreen('Run', runQuery, (run) => <RunPage run={run} />)
