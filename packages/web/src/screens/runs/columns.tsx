import type { Schemas } from '../../api/client.ts'
import { Duration, itemsText, OutcomeBadge, RunLink, StatusBadge, Time, type Column } from '../../ui/index.ts'

type Run = Schemas['Run']

export const COLUMNS: readonly Column<Run>[] = [
  {
    id: 'target',
    label: 'Target',
    width: 'minmax(160px, 2fr)',
    sort: 'target',
    cell: (run) => (
      <>
        <RunLink run={run} />
        {run.loop_items === null ? null : <span className="muted"> {itemsText(run.loop_items)}</span>}
      </>
    ),
  },
  {
    id: 'workflow',
    label: 'Workflow',
    width: 'minmax(120px, 1fr)',
    sort: 'workflow',
    cell: (run) => run.workflow_name,
  },
  {
    id: 'status',
    label: 'Status',
    width: '104px',
    sort: 'status',
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  {
    id: 'outcome',
    label: 'Outcome',
    width: '122px',
    sort: 'outcome',
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
    sort: 'took',
    cell: (run) => <Duration from={run.started_at} to={run.completed_at} />,
  },
  {
    id: 'created',
    label: 'Created',
    width: '84px',
    sort: 'created',
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  {
    id: 'why',
    label: 'Why',
    width: 'minmax(160px, 2fr)',
    cell: (run) => {
      const why = run.waiting_reason || run.error_message || run.outcome_reasons.join(' ')
      return <span title={why}>{why}</span>
    },
  },
  {
    id: 'workspace',
    label: 'Workspace',
    width: '140px',
    hidden: true,
    sort: 'workspace',
    cell: ({ workspace }) => workspace,
  },
  { id: 'priority', label: 'Priority', width: '80px', hidden: true, cell: ({ priority }) => priority },
  { id: 'mode', label: 'Mode', width: '96px', hidden: true, cell: ({ run_mode }) => run_mode },
  { id: 'worker', label: 'Worker', width: '140px', hidden: true, cell: ({ worker_id }) => worker_id },
]
