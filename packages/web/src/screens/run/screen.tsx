import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import {
  artifactsQuery,
  cancelRun,
  duplicateRun,
  runEventsQuery,
  runQuery,
  startRun,
  stepsQuery,
} from '../../api/runs.ts'
import {
  Button,
  Bytes,
  Commands,
  Confirm,
  DataTable,
  Duration,
  EmptyState,
  ErrorPanel,
  JsonView,
  KeyValues,
  Link,
  OutcomeBadge,
  Page,
  Skeleton,
  StatusBadge,
  Tabs,
  Time,
  toast,
  useFilters,
  useList,
} from '../../ui/index.ts'
import { Timeline } from './timeline.tsx'

const Steps = ({ id }: { id: string }) => {
  const { data, error, refetch } = useQuery(stepsQuery(id))
  if (error) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton />
  if (data.length === 0) return <EmptyState title="No step has started yet" />
  return <Timeline steps={data} />
}

const Artifacts = ({ id }: { id: string }) => {
  const { data, error, refetch } = useQuery(artifactsQuery(id))
  return (
    <DataTable
      label="Artifacts"
      list={{ rows: data, total: data?.length, error, retry: () => void refetch() }}
      keyOf={(artifact) => artifact.id}
      empty={<EmptyState title="No artifacts">Files that the workflow reports appear here.</EmptyState>}
      columns={[
        {
          id: 'name',
          label: 'Name',
          width: 'minmax(200px, 2fr)',
          cell: (artifact) => (
            <a href={`/api/runs/${id}/artifacts/${artifact.id}/content`} download>
              {artifact.name}
            </a>
          ),
        },
        { id: 'type', label: 'Type', width: '100px', cell: (artifact) => artifact.content_type },
        {
          id: 'size',
          label: 'Size',
          width: '90px',
          align: 'end',
          cell: (artifact) => <Bytes value={artifact.size_bytes} />,
        },
        {
          id: 'created',
          label: 'Created',
          width: '90px',
          cell: (artifact) => <Time at={artifact.created_at} />,
        },
      ]}
    />
  )
}

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

export const Screen = () => {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const [{ tab = 'steps' }, set] = useFilters(['tab'])
  const navigate = useNavigate()
  const { data: run, error, refetch } = useQuery(runQuery(id))
  const again = useMutation({
    mutationFn: async () => {
      const { run_uuid } = await duplicateRun(id)
      await startRun(run_uuid)
      return run_uuid
    },
    onSuccess: (uuid) => navigate({ href: `/runs/${uuid}` }),
    onError: (reason) => toast(reason.message, 'bad'),
  })
  if (error && !run)
    return (
      <Page title="Run">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </Page>
    )
  if (!run)
    return (
      <Page title="Run">
        <Skeleton lines={8} />
      </Page>
    )
  const ended = run.completed_at !== null
  return (
    <Page
      title={`${run.target || `Run ${run.id}`} · ${run.workflow_name}`}
      actions={
        <>
          <Commands
            lines={[
              { title: 'Read the run', api: ['GET', `/runs/${run.run_uuid}`] },
              { title: 'Cancel the run', api: ['DELETE', `/runs/${run.run_uuid}`] },
            ]}
          />
          <Button busy={again.isPending} onClick={() => again.mutate()}>
            Start again
          </Button>
          {ended ? null : (
            <Confirm
              trigger="Cancel"
              title="Cancel this run?"
              action="Cancel the run"
              danger
              onConfirm={async () => {
                const { message } = await cancelRun(id)
                toast(message)
                await refetch()
              }}
            >
              <p>Its processes are terminated.</p>
            </Confirm>
          )}
        </>
      }
    >
      {run.waiting_reason === '' ? null : <p className="tone-warn">▲ Waiting: {run.waiting_reason}</p>}
      {run.error_message === '' ? null : <p className="tone-bad">■ {run.error_message}</p>}
      <KeyValues
        facts={[
          ['Status', <StatusBadge key="status" status={run.status} />],
          ['Outcome', <OutcomeBadge key="outcome" outcome={run.outcome} />],
          ['Took', <Duration key="took" from={run.started_at} to={run.completed_at} />],
          ['Steps', `${run.completed_steps} of ${run.total_steps}`],
          ['Attempt', run.attempt],
          ['Created', <Time key="created" at={run.created_at} />],
          [
            'Job',
            <Link key="job" href={`/jobs/${run.run_group_id}`}>
              {run.run_group_id}
            </Link>,
          ],
          [
            'Worker',
            run.worker_id === '' ? (
              ''
            ) : (
              <Link key="worker" href={`/workers/${encodeURIComponent(run.worker_id)}`}>
                {run.worker_id}
              </Link>
            ),
          ],
          ['Workspace', run.workspace],
          ['Mode', run.run_mode],
          ['Priority', run.priority],
          ['Reasons', run.outcome_reasons.join(' ')],
          ['Killed processes', run.killed_pids.join(', ')],
        ]}
      />
      <Tabs
        label="Parts of the run"
        value={tab}
        onChange={(next) => set({ tab: next })}
        tabs={[
          { id: 'steps', label: 'Steps', content: <Steps id={id} /> },
          { id: 'artifacts', label: 'Artifacts', content: <Artifacts id={id} /> },
          { id: 'events', label: 'Events', content: <Events uuid={run.run_uuid} /> },
          { id: 'details', label: 'Details', content: <JsonView value={run} label="The run as JSON" /> },
        ]}
      />
    </Page>
  )
}
