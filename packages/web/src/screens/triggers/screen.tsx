import { answer, api, byId } from '../../api/client.ts'
import { useAct } from '../../api/act.ts'
import './triggers.css'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { scheduleQuery, triggersQuery, type Trigger, type TriggerFilters } from '../../api/automation.ts'
import { useRefusal } from '../../api/role.ts'
import { workflowNamesQuery } from '../../api/workflows.ts'
import {
  FilteredList,
  Loaded,
  menuColumn,
  Opener,
  workflowLink,
  Badge,
  deleteItem,
  Dialog,
  Link,
  OutcomeBadge,
  Page,
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

const COLUMNS: readonly Column<Trigger>[] = [
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
]

/** Loads a schedule and changes it. */
const EditSchedule = ({ id, onClose }: { id: string; onClose: () => void }) => (
  <Dialog wide keep onClose={onClose} title="Edit the schedule">
    <Loaded query={useQuery({ ...scheduleQuery(id), staleTime: 0 })} lines={6}>
      {(schedule) => <ScheduleForm schedule={schedule} onDone={onClose} />}
    </Loaded>
  </Dialog>
)

const List = () => {
  const [filters, set] = useFilters(['workflow', 'type', 'enabled', 'source', 'view', 'key'])
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
  const changesOf = ({ schedule_id: id, name, enabled: isEnabled }: Trigger): readonly MenuItem[] => [
    {
      label: 'Trigger now',
      onSelect: () => act(() => answer(api.POST('/schedules/{id}/trigger', byId(id)))),
    },
    { label: 'Edit', dialog: (close) => <EditSchedule id={id} onClose={close} /> },
    isEnabled
      ? { label: 'Disable', onSelect: () => act(() => answer(api.POST('/schedules/{id}/disable', byId(id)))) }
      : { label: 'Enable', onSelect: () => act(() => answer(api.POST('/schedules/{id}/enable', byId(id)))) },
    deleteItem('schedule', name, {
      refresh: ['triggers'],
      onConfirm: () => answer(api.DELETE('/schedules/{id}', byId(id))),
      text: 'It fires no more. Runs that it started are not changed.',
    }),
  ]
  const toFile = (name: string) => navigate({ href: `/workflows/${encodeURIComponent(name)}?tab=source` })
  const actions = menuColumn<Trigger>(
    '104px',
    ({ name }) => name,
    (trigger) => [
      ...(mayTest && trigger.key !== ''
        ? [{ label: 'Test with an event', onSelect: () => set({ view: 'test', key: trigger.key }) }]
        : []),
      ...(trigger.schedule_id === ''
        ? [{ label: 'Show the workflow file', onSelect: () => void toFile(trigger.workflow.name) }]
        : isAdmin
          ? changesOf(trigger)
          : [{ label: 'Changes need the role admin' }]),
    ],
  )
  return (
    <div className="stack">
      <FilteredList
        filters={[
          { name: 'workflow', label: 'Workflow', suggestions: workflows },
          { name: 'type', label: 'Kind', options: ['cron', 'event', 'watch'] },
          { name: 'enabled', label: 'Enabled', options: ['true', 'false'] },
          { name: 'source', label: 'Source', options: ['workflow', 'schedule'] },
        ]}
        label="Triggers"
        columns={[...COLUMNS, actions]}
        list={list}
        keyOf={({ key, workflow: { name }, name: own }) => key || `${name} ${own}`}
        none="No triggers"
        advice="Create a schedule, or declare triggers in a workflow file."
      />
    </div>
  )
}

export const Screen = () => (
  <Page
    title="Schedules & triggers"
    commands={[
      { title: 'List the triggers', api: ['GET', '/triggers'] },
      { title: 'List the schedules', cli: ['schedules', 'list'], api: ['GET', '/schedules'] },
    ]}
    actions={
      <Opener kind="primary" needs="admin" label="New schedule">
        {(close) => (
          <Dialog wide keep onClose={close} title="New schedule">
            <ScheduleForm onDone={close} />
          </Dialog>
        )}
      </Opener>
    }
  >
    <UrlTabs
      name="view"
      label="Parts of the page"
      tabs={[tab('list', 'Triggers', <List />), tab('test', 'Test with an event', <TriggerTest />)]}
    />
  </Page>
)
