import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../api/client.ts'
import { queueQuery } from '../../api/farm.ts'
import { runsQuery, type RunFilters } from '../../api/runs.ts'
import {
  jobLink,
  Badge,
  CardTable,
  type CardColumn,
  DataTable,
  Duration,
  EmptyState,
  ErrorPanel,
  Figure,
  FilterBar,
  Link,
  Page,
  PRIORITY_FILTER,
  RunLink,
  Skeleton,
  tab,
  UrlTabs,
  useFilters,
  useList,
  column,
  type Column,
  type Filter,
} from '../../ui/index.ts'
import { isUnserved, type Queue } from '../overview/attention.ts'

type Group = Queue['groups'][number]
type Run = Schemas['Run']

const FILTERS: readonly Filter[] = [
  PRIORITY_FILTER,
  { name: 'run_mode', label: 'Mode', options: ['distributed', 'local', 'cloud'] },
  { name: 'need', label: 'Needs' },
]
const NAMES = FILTERS.map(({ name }) => name)

const number = (value: number): string => value.toLocaleString()

const Depths = ({ queue }: { queue: Queue }) => (
  <dl className="figures">
    {queue.by_priority.map(({ priority, waiting, oldest_at }) => (
      <Figure key={priority} name={priority} href={`/queue?priority=${priority}`} value={number(waiting)}>
        {oldest_at === null ? (
          'none'
        ) : (
          <>
            oldest <Duration from={oldest_at} />
          </>
        )}
      </Figure>
    ))}
  </dl>
)

const Servers = ({ group }: { group: Group }) => {
  const { run_mode, infra_id, workers, worker_count } = group
  if (run_mode === 'local') return 'local slots of servers'
  if (run_mode === 'cloud')
    return infra_id === '' ? (
      'cloud machines'
    ) : (
      <Link href={`/cloud?infra=${encodeURIComponent(infra_id)}`}>machines {infra_id}</Link>
    )
  if (worker_count === 0) return <span className="tone-bad">■ no worker</span>
  const rest = worker_count - workers.length
  return (
    <ul className="list">
      {workers.map(({ id, name, free_slots }) => (
        <li key={id}>
          <Link href={`/workers/${encodeURIComponent(id)}`}>{name || id}</Link>{' '}
          <span className="muted">{free_slots === 0 ? 'full' : `${free_slots} free`}</span>
        </li>
      ))}
      {rest > 0 ? <li className="muted">and {number(rest)} more</li> : null}
    </ul>
  )
}

const Why = ({ group }: { group: Group }) => {
  const { why, held, suspects, waiting } = group
  return (
    <>
      {isUnserved(group) ? <Badge tone="bad">cannot start</Badge> : null} {why}
      {held > 0 && held < waiting ? (
        <span className="note small muted">{number(held)} of them wait for a slot of their job.</span>
      ) : null}
      {suspects > 0 ? (
        <span className="note small muted">
          {number(suspects)} lost a worker before: a worker starts one of these at a time.
        </span>
      ) : null}
    </>
  )
}

const CLASSES: readonly CardColumn<Group>[] = [
  {
    id: 'priority',
    label: 'Priority',
    cell: ({ priority, run_mode }) => (
      <>
        <strong>{priority}</strong> <span className="note small muted">{run_mode}</span>
      </>
    ),
  },
  {
    id: 'waiting',
    label: 'Waiting',
    cell: ({ waiting }) => <span className="number">{number(waiting)}</span>,
  },
  {
    id: 'oldest',
    label: 'Oldest',
    cell: ({ oldest_at }) => (oldest_at === null ? '–' : <Duration from={oldest_at} />),
  },
  { id: 'needs', label: 'Needs', cell: ({ needs_text }) => needs_text },
  { id: 'why', label: 'Why they wait', cell: (group) => <Why group={group} /> },
  { id: 'servers', label: 'Who can take them', cell: (group) => <Servers group={group} /> },
]

const COLUMNS: readonly Column<Run>[] = [
  column('target', 'Target', { width: 'minmax(160px, 2fr)', sort: 'target' }, (run) => <RunLink run={run} />),
  column('workflow', 'Workflow', { width: 'minmax(110px, 1fr)', sort: 'workflow' }, 'workflow_name'),
  column('priority', 'Priority', '76px', 'priority'),
  column('mode', 'Mode', '96px', 'run_mode'),
  column('waits', 'Waits for', { width: '80px', sort: 'created', align: 'end' }, ({ created_at }) => (
    <Duration from={created_at} />
  )),
  column('why', 'Why', 'minmax(240px, 3fr)', 'waiting_reason'),
  column('job', 'Job', '110px', ({ run_group_id }) => jobLink(run_group_id)),
]

const WaitingRuns = () => {
  const [sort, setSort] = useState('')
  const filters = { status: 'queued', ...(sort === '' ? {} : { sort }) } as RunFilters
  return (
    <DataTable
      label="Waiting runs"
      columns={COLUMNS}
      list={useList(runsQuery(filters))}
      order={{ value: sort, onChange: setSort }}
      keyOf={({ run_uuid }) => run_uuid}
      hrefOf={({ run_uuid }) => `/runs/${run_uuid}`}
      none="No run waits"
    />
  )
}

const matches = (
  group: Group,
  { priority, run_mode, need = '' }: Readonly<Partial<Record<string, string>>>,
) =>
  (priority === undefined || group.priority === priority) &&
  (run_mode === undefined || group.run_mode === run_mode) &&
  [...group.needs, group.needs_text].join(' ').toLowerCase().includes(need.toLowerCase())

const ClassesTab = ({ queue }: { queue: Queue }) => {
  const [filters] = useFilters(NAMES)
  const groups = queue.groups.filter((group) => matches(group, filters))
  if (queue.waiting === 0)
    return (
      <EmptyState title="No run waits">
        <Link href="/workflows">Start a workflow</Link>
      </EmptyState>
    )
  return (
    <>
      <FilterBar filters={FILTERS} />
      {groups.length === 0 ? (
        <EmptyState title="No class of waiting runs matches these filters">
          Clear a filter to see more.
        </EmptyState>
      ) : (
        <CardTable
          label="Classes of waiting runs"
          columns={CLASSES}
          rows={groups}
          keyOf={({ priority, run_mode, infra_id, needs }) =>
            [priority, run_mode, infra_id, ...needs].join(' ')
          }
        />
      )}
      {queue.truncated ? (
        <p className="muted">These are the first 500 classes; the counts contain all.</p>
      ) : null}
    </>
  )
}

export const Screen = () => {
  const { data: queue, error, refetch } = useQuery(queueQuery)
  return (
    <Page
      title="Queue"
      commands={[
        { title: 'Read the queue', api: ['GET', '/queue'] },
        {
          title: 'List waiting runs',
          cli: ['runs', '--status', 'queued'],
          api: ['GET', '/runs?status=queued'],
        },
      ]}
    >
      {error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : null}
      {queue ? (
        <>
          <Depths queue={queue} />
          <UrlTabs
            label="Parts of the queue"
            tabs={[
              tab('classes', 'By needs', <ClassesTab queue={queue} />),
              tab('runs', 'Waiting runs', <WaitingRuns />),
            ]}
          />
        </>
      ) : error ? null : (
        <Skeleton lines={8} />
      )}
    </Page>
  )
}
