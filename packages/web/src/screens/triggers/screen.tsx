import { useAct } from '../../api/act.ts'
import './triggers.css'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  disableSchedule,
  enableSchedule,
  removeSchedule,
  scheduleQuery,
  triggerSchedule,
  triggersQuery,
  type Trigger,
  type TriggerFilters,
} from '../../api/automation.ts'
import { useRefusal } from '../../api/role.ts'
import { workflowNamesQuery } from '../../api/workflows.ts'
import {
  workflowLink,
  Badge,
  Button,
  Commands,
  ConfirmDialog,
  DataTable,
  Dialog,
  EmptyState,
  ErrorPanel,
  FilterBar,
  Link,
  Menu,
  OutcomeBadge,
  Page,
  Skeleton,
  Time,
  toast,
  toastError,
  tab,
  UrlTabs,
  useFilters,
  useList,
  column,
  type Column,
  type MenuItem,
} from '../../ui/index.ts'
import { cronWords } from './cron-words.ts'
import { ScheduleForm } from './schedule-form.tsx'
import { TriggerTest } from './trigger-test.tsx'

/** The last firings of event triggers and watches change without an event of their own. */
const REFRESH_MS = 10_000

const STATES: Readonly<Record<Trigger['last_state'], string>> = {
  '': '',
  done: 'started runs',
  open: 'runs under way',
  waiting: 'waits for earlier runs',
  skipped: 'skipped',
}

const When = ({ trigger }: { trigger: Trigger }) => {
  const { type, schedule, timezone, topic, filters, path } = trigger
  if (type === 'cron')
    return (
      <span title={`${schedule} (${timezone})`}>
        {cronWords(schedule)} <span className="muted">{timezone}</span>
      </span>
    )
  if (type === 'watch') return <code title={path}>{path}</code>
  return (
    <span title={filters.join('\n')}>
      on <code>{topic || 'all topics'}</code>
      {filters.length === 0 ? null : (
        <span className="muted">
          {' '}
          if {filters.length} {filters.length === 1 ? 'filter is' : 'filters are'} true
        </span>
      )}
    </span>
  )
}

const State = ({ trigger: { problem, enabled } }: { trigger: Trigger }) =>
  problem === '' ? (
    <Badge tone={enabled ? 'good' : 'off'}>{enabled ? 'enabled' : 'disabled'}</Badge>
  ) : (
    <span title={problem}>
      <Badge tone="bad">{problem}</Badge>
    </span>
  )

const columns = (actions: (trigger: Trigger) => readonly MenuItem[]): readonly Column<Trigger>[] => [
  column('name', 'Name', 'minmax(100px, 1.2fr)', ({ name }) => <strong>{name}</strong>),
  column('workflow', 'Workflow', 'minmax(100px, 1fr)', ({ workflow }) => workflowLink(workflow.name)),
  column('type', 'Kind', '48px', 'type'),
  column('when', 'When', 'minmax(170px, 2.4fr)', (trigger) => <When trigger={trigger} />),
  column('state', 'State', 'minmax(92px, 0.8fr)', (trigger) => <State trigger={trigger} />),
  column('last', 'Last', '72px', ({ last_fired_at: at, last_state: state }) => (
    <span title={STATES[state]}>
      <Time at={at} />
    </span>
  )),
  column('next', 'Next', '62px', ({ next_run: at }) => <Time at={at} />),
  column('job', 'Outcome', '138px', ({ last_job_id: job, last_state: state, last_outcome: outcome }) =>
    job === '' ? (
      <span className="muted">{STATES[state] || '–'}</span>
    ) : (
      <Link href={`/jobs/${encodeURIComponent(job)}`} className="plain-link" title={`Job ${job}`}>
        {outcome === null ? <Badge tone="busy">{STATES[state]}</Badge> : <OutcomeBadge outcome={outcome} />}
      </Link>
    ),
  ),
  column('source', 'From', '40px', ({ source }) => (source === 'schedule' ? 'API' : 'file')),
  column('overlap', 'Overlap', { width: '120px', hidden: true }, 'overlap'),
  column('actions', 'Actions', '104px', (trigger) => (
    <Menu label={`Actions of ${trigger.name}`} items={actions(trigger)}>
      Actions ▾
    </Menu>
  )),
]

/** Loads a schedule and changes it. */
const EditSchedule = ({ id, onDone }: { id: string; onDone: () => void }) => {
  const { data, error } = useQuery({ ...scheduleQuery(id), staleTime: 0 })
  if (data) return <ScheduleForm schedule={data} onDone={onDone} />
  return error ? <ErrorPanel error={error} /> : <Skeleton lines={6} />
}

const List = () => {
  const names = ['workflow', 'type', 'enabled', 'source'] as const
  const [filters, set] = useFilters([...names, 'view', 'key'])
  const { data: workflows = [] } = useQuery(workflowNamesQuery)
  const { type, enabled, workflow, source } = filters
  const query = { type, workflow, source, enabled: enabled && enabled === 'true' } as TriggerFilters
  const list = useList({ ...triggersQuery(query), refetchInterval: REFRESH_MS })
  const { mutate: act } = useAct((change: () => Promise<{ readonly message: string }>) => change(), {
    refresh: ['triggers'],
    done: ({ message }) => toast(message),
    failed: toastError,
  })
  const navigate = useNavigate()
  const isAdmin = useRefusal('admin') === undefined
  const mayTest = useRefusal('operator') === undefined
  const [editing, setEditing] = useState<string>()
  const [removing, setRemoving] = useState<Trigger>()
  const actions = (trigger: Trigger): readonly MenuItem[] => {
    const { schedule_id: id, key } = trigger
    return [
      ...(mayTest && key !== ''
        ? [{ label: 'Test with an event', onSelect: () => set({ view: 'test', key }) }]
        : []),
      ...(isAdmin && id !== ''
        ? [
            { label: 'Trigger now', onSelect: () => act(() => triggerSchedule(id)) },
            { label: 'Edit', onSelect: () => setEditing(id) },
            trigger.enabled
              ? { label: 'Disable', onSelect: () => act(() => disableSchedule(id)) }
              : { label: 'Enable', onSelect: () => act(() => enableSchedule(id)) },
            { label: 'Delete', danger: true, onSelect: () => setRemoving(trigger) },
          ]
        : []),
      ...(id === ''
        ? [
            {
              label: 'Show the workflow file',
              onSelect: () =>
                void navigate({ href: `/workflows/${encodeURIComponent(trigger.workflow.name)}?tab=source` }),
            },
          ]
        : isAdmin
          ? []
          : [{ label: 'Changes need the role admin', onSelect: () => undefined }]),
    ]
  }
  return (
    <div className="stack">
      <FilterBar
        filters={[
          { name: 'workflow', label: 'Workflow', suggestions: workflows },
          { name: 'type', label: 'Kind', options: ['cron', 'event', 'watch'] },
          { name: 'enabled', label: 'Enabled', options: ['true', 'false'] },
          { name: 'source', label: 'Source', options: ['workflow', 'schedule'] },
        ]}
      />
      <DataTable
        label="Triggers"
        columns={columns(actions)}
        list={list}
        keyOf={({ key, workflow: { name }, name: own }) => key || `${name} ${own}`}
        empty={
          <EmptyState title="No triggers">
            {names.some((name) => filters[name] !== undefined)
              ? 'No trigger matches these filters. Clear a filter to see more.'
              : 'Create a schedule, or declare triggers in a workflow file.'}
          </EmptyState>
        }
      />
      <Dialog
        wide
        keep
        open={editing !== undefined}
        onClose={() => setEditing(undefined)}
        title="Edit the schedule"
      >
        {editing === undefined ? null : <EditSchedule id={editing} onDone={() => setEditing(undefined)} />}
      </Dialog>
      <ConfirmDialog
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={`Delete ${removing?.name ?? ''}?`}
        action="Delete the schedule"
        danger
        refresh={['triggers']}
        onConfirm={() => removeSchedule(removing?.schedule_id ?? '')}
      >
        <p>It fires no more. Runs that it started are not changed.</p>
      </ConfirmDialog>
    </div>
  )
}

export const Screen = () => {
  const [creating, setCreating] = useState(false)
  const refusal = useRefusal('admin')
  return (
    <Page
      title="Schedules & triggers"
      actions={
        <>
          <Commands
            lines={[
              { title: 'List the triggers', api: ['GET', '/triggers'] },
              { title: 'List the schedules', cli: ['schedules', 'list'], api: ['GET', '/schedules'] },
            ]}
          />
          <Button kind="primary" refusal={refusal} onClick={() => setCreating(true)}>
            New schedule
          </Button>
        </>
      }
    >
      <UrlTabs
        name="view"
        label="Parts of the page"
        tabs={[tab('list', 'Triggers', <List />), tab('test', 'Test with an event', <TriggerTest />)]}
      />
      <Dialog wide keep open={creating} onClose={() => setCreating(false)} title="New schedule">
        <ScheduleForm onDone={() => setCreating(false)} />
      </Dialog>
    </Page>
  )
}
