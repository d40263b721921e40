import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { cancelRun, runsQuery, type RunFilters } from '../../api/runs.ts'
import {
  Commands,
  Confirm,
  DataTable,
  Duration,
  EmptyState,
  FilterBar,
  Link,
  OutcomeBadge,
  Page,
  StatusBadge,
  Time,
  toast,
  useFilters,
  useList,
  type Column,
  type Filter,
} from '../../ui/index.ts'

type Run = Schemas['Run']

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    options: ['pending', 'queued', 'running', 'completed', 'failed', 'cancelled'],
  },
  { name: 'outcome', label: 'Outcome', options: ['clean', 'partial', 'nothing_done'] },
  { name: 'workflow', label: 'Workflow' },
  { name: 'target', label: 'Target' },
  { name: 'workspace', label: 'Workspace' },
  { name: 'run_mode', label: 'Mode', options: ['local', 'distributed', 'cloud'] },
  { name: 'job_id', label: 'Job' },
]
const NAMES = FILTERS.map(({ name }) => name)

const COLUMNS: readonly Column<Run>[] = [
  {
    id: 'target',
    label: 'Target',
    width: 'minmax(160px, 2fr)',
    cell: ({ run_uuid, target, id }) => <Link href={`/runs/${run_uuid}`}>{target || `run ${id}`}</Link>,
  },
  { id: 'workflow', label: 'Workflow', width: 'minmax(120px, 1fr)', cell: (run) => run.workflow_name },
  { id: 'status', label: 'Status', width: '104px', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: 'outcome',
    label: 'Outcome',
    width: '112px',
    cell: ({ outcome }) => <OutcomeBadge outcome={outcome} />,
  },
  {
    id: 'steps',
    label: 'Steps',
    width: '64px',
    align: 'end',
    cell: (run) => (
      <span className="number">
        {run.completed_steps}/{run.total_steps}
      </span>
    ),
  },
  {
    id: 'took',
    label: 'Took',
    width: '72px',
    align: 'end',
    cell: (run) => <Duration from={run.started_at} to={run.completed_at} />,
  },
  { id: 'created', label: 'Created', width: '84px', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'why',
    label: 'Why',
    width: 'minmax(160px, 2fr)',
    cell: (run) => run.waiting_reason || run.error_message,
  },
  { id: 'workspace', label: 'Workspace', width: '140px', hidden: true, cell: ({ workspace }) => workspace },
  { id: 'priority', label: 'Priority', width: '80px', hidden: true, cell: ({ priority }) => priority },
  { id: 'mode', label: 'Mode', width: '96px', hidden: true, cell: ({ run_mode }) => run_mode },
  { id: 'worker', label: 'Worker', width: '140px', hidden: true, cell: ({ worker_id }) => worker_id },
]

const hasEnded = ({ status }: Run): boolean => ['completed', 'failed', 'cancelled'].includes(status)

const CancelRuns = ({ runs, clear }: { runs: readonly Run[]; clear: () => void }) => {
  const queries = useQueryClient()
  const open = runs.filter((run) => !hasEnded(run))
  const cancel = async () => {
    // One after the other: each call waits until the worker has killed the processes.
    for (const { run_uuid } of open) await cancelRun(run_uuid)
    toast(`${open.length} runs cancelled.`)
    clear()
    await queries.invalidateQueries({ queryKey: ['runs'] })
  }
  return (
    <Confirm
      trigger="Cancel"
      title={`Cancel ${open.length} runs?`}
      action={`Cancel ${open.length} runs`}
      danger
      disabled={open.length === 0}
      onConfirm={cancel}
    >
      <p>Their processes are terminated.</p>
    </Confirm>
  )
}

export const Screen = () => {
  const [filters] = useFilters(NAMES)
  const navigate = useNavigate()
  const list = useList(runsQuery(filters as RunFilters))
  const query = new URLSearchParams(filters as Record<string, string>).toString()
  return (
    <Page
      title="Runs"
      actions={
        <Commands lines={[{ title: 'List these runs', api: ['GET', `/runs${query && `?${query}`}`] }]} />
      }
    >
      <FilterBar filters={FILTERS} />
      <DataTable
        label="Runs"
        columns={COLUMNS}
        list={list}
        keyOf={({ run_uuid }) => run_uuid}
        onOpen={({ run_uuid }) => void navigate({ href: `/runs/${run_uuid}` })}
        bulk={(runs, clear) => <CancelRuns runs={runs} clear={clear} />}
        empty={
          <EmptyState title="No runs">
            {query === '' ? (
              <Link href="/workflows">Start a workflow</Link>
            ) : (
              'No run matches these filters. Clear a filter to see more.'
            )}
          </EmptyState>
        }
      />
    </Page>
  )
}
