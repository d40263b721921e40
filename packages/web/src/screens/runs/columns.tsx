import type { Schemas } from '../../api/client.ts'
import {
  column,
  Duration,
  itemsText,
  OutcomeBadge,
  RunLink,
  StatusBadge,
  Time,
  type Column,
} from '../../ui/index.ts'

type Run = Schemas['Run']

export const COLUMNS: readonly Column<Run>[] = [
  column('target', 'Target', { width: 'minmax(160px, 2fr)', sort: 'target' }, (run) => (
    <>
      <RunLink run={run} />
      {run.loop_items === null ? null : <span className="muted"> {itemsText(run.loop_items)}</span>}
    </>
  )),
  column('workflow', 'Workflow', { width: 'minmax(120px, 1fr)', sort: 'workflow' }, 'workflow_name'),
  column('status', 'Status', { width: '104px', sort: 'status' }, ({ status }) => (
    <StatusBadge status={status} />
  )),
  column('outcome', 'Outcome', { width: '122px', sort: 'outcome' }, ({ outcome }) => (
    <OutcomeBadge outcome={outcome} />
  )),
  column('steps', 'Steps', { width: '64px', align: 'end' }, (run) => (
    <span className="number">
      {run.completed_steps}/{run.total_steps}
    </span>
  )),
  column('took', 'Took', { width: '72px', sort: 'took', align: 'end' }, (run) => (
    <Duration from={run.started_at} to={run.completed_at} />
  )),
  column('created', 'Created', { width: '84px', sort: 'created' }, ({ created_at }) => (
    <Time at={created_at} />
  )),
  column('why', 'Why', 'minmax(160px, 2fr)', (run) => {
    const why = run.waiting_reason || run.error_message || run.outcome_reasons.join(' ')
    return <span title={why}>{why}</span>
  }),
  column('workspace', 'Workspace', { width: '140px', sort: 'workspace', hidden: true }, 'workspace'),
  column('priority', 'Priority', { width: '80px', hidden: true }, 'priority'),
  column('mode', 'Mode', { width: '96px', hidden: true }, 'run_mode'),
  column('worker', 'Worker', { width: '140px', hidden: true }, 'worker_id'),
]
