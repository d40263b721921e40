import { runsQuery } from '../../api/runs.ts'
import { listScreen, PRIORITY_FILTER } from '../../ui/index.ts'
import { BulkActions } from './bulk.tsx'
import { COLUMNS } from './columns.tsx'

const STATUSES = ['pending', 'queued', 'running', 'completed', 'failed', 'cancelled']

export const Screen = listScreen({
  title: 'Runs',
  name: 'runs',
  filters: [
    { name: 'status', label: 'Status', options: STATUSES },
    { name: 'outcome', label: 'Outcome', options: ['clean', 'partial', 'nothing_done'] },
    { name: 'workflow', label: 'Workflow' },
    { name: 'target', label: 'Target' },
    { name: 'workspace', label: 'Workspace' },
    PRIORITY_FILTER,
    { name: 'run_mode', label: 'Mode', options: ['local', 'distributed', 'cloud'] },
    { name: 'job_id', label: 'Job' },
  ],
  // The program has no filter by workspace or mode.
  options: {
    status: '--status',
    outcome: '--outcome',
    workflow: '--workflow',
    target: '--target',
    priority: '--priority',
    job_id: '--job',
    sort: '--sort',
  },
  query: runsQuery,
  columns: COLUMNS,
  idOf: ({ run_uuid: id }) => id,
  bulk: (runs, clear) => <BulkActions runs={runs} clear={clear} />,
})
