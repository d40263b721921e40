import './workers.css'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { versionQuery, workersQuery } from '../../api/farm.ts'
import {
  CopyLine,
  FilteredList,
  Link,
  Page,
  Time,
  useFilters,
  useList,
  column,
  type Column,
  type Filter,
  plural,
} from '../../ui/index.ts'
import { WorkerActions } from './actions.tsx'
import {
  Enforcement,
  labelsOf,
  LeaseAge,
  Slots,
  StateBadge,
  STATES,
  stateOf,
  toolsOf,
  Version,
  type Worker,
} from './state.tsx'

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', options: STATES },
  { name: 'kind', label: 'Kind', options: ['worker', 'server'] },
  { name: 'text', label: 'Name, host or tool' },
]
const NAMES = FILTERS.map(({ name }) => name)

const pathOf = ({ id }: Worker): string => `/workers/${encodeURIComponent(id)}`

const columnsOf = (master: string | undefined, readAt: number): readonly Column<Worker>[] => [
  column('name', 'Name', 'minmax(140px, 1.5fr)', (worker) => (
    <Link href={pathOf(worker)} title={worker.name}>
      {worker.name || worker.id}
    </Link>
  )),
  column('status', 'Status', 'minmax(150px, 1fr)', (worker) => <StateBadge worker={worker} />),
  column('slots', 'Slots', '130px', (worker) => <Slots worker={worker} />),
  column('lease', 'Last heartbeat', { width: '104px', align: 'end' }, (worker) => (
    <LeaseAge worker={worker} readAt={readAt} />
  )),
  column('runs', 'Executes', '130px', ({ current_runs: [first, ...rest] }) =>
    first === undefined ? (
      <span className="muted">–</span>
    ) : (
      <>
        <Link href={`/runs/${first}`}>run {first.slice(0, 8)}</Link>
        {rest.length > 0 ? <span className="muted"> +{rest.length}</span> : null}
      </>
    ),
  ),
  column('tools', 'Tools and labels', 'minmax(180px, 2fr)', (worker) => {
    const text = [...labelsOf(worker), ...toolsOf(worker)].join(', ')
    return <span title={text}>{text || <span className="muted">none that a workflow requires</span>}</span>
  }),
  column('version', 'Version', 'minmax(70px, 0.7fr)', ({ version }) => (
    <Version version={version} master={master} />
  )),
  column('kind', 'Kind', '70px', 'kind'),
  column('scopes', 'Scopes', { width: '150px', hidden: true }, (worker) => <Enforcement worker={worker} />),
  column(
    'host',
    'Host',
    { width: 'minmax(90px, 1fr)', hidden: true },
    ({ hostname, pid }) => `${hostname} (${pid})`,
  ),
  column('joined', 'Joined', { width: '84px', hidden: true }, ({ joined_at }) => <Time at={joined_at} />),
  column(
    'done',
    'Completed, failed',
    { width: '120px', align: 'end', hidden: true },
    ({ tasks_complete, tasks_failed }) => (
      <span className="number">
        {tasks_complete.toLocaleString()}, {tasks_failed.toLocaleString()}
      </span>
    ),
  ),
]

/** Lost workers leave the list after an hour, unless the user asks for them. */
const FORGOTTEN_MS = 3_600_000
const isForgotten = (worker: Worker): boolean =>
  stateOf(worker) === 'lost' && worker.lease_age_ms > FORGOTTEN_MS

const matches = (
  worker: Worker,
  { status, kind, text = '' }: Readonly<Partial<Record<string, string>>>,
): boolean =>
  (status === undefined ? !isForgotten(worker) : stateOf(worker) === status) &&
  (kind === undefined || worker.kind === kind) &&
  [worker.name, worker.hostname, worker.id, ...worker.capabilities]
    .join(' ')
    .toLowerCase()
    .includes(text.toLowerCase())

export const Screen = () => {
  const [filters] = useFilters(NAMES)
  const list = useList(workersQuery)
  const { dataUpdatedAt } = useInfiniteQuery(workersQuery)
  const { data: master } = useQuery(versionQuery)
  const columns = useMemo(() => columnsOf(master, dataUpdatedAt), [master, dataUpdatedAt])
  const rows = useMemo(() => list.rows?.filter((worker) => matches(worker, filters)), [list.rows, filters])
  const forgotten = filters.status === undefined ? (list.rows?.filter(isForgotten).length ?? 0) : 0
  const isFiltered = Object.keys(filters).length > 0 || forgotten > 0
  return (
    <Page
      title="Workers"
      commands={[
        { title: 'List the workers', cli: ['workers'], api: ['GET', '/workers'] },
        { title: 'Start one more on a machine', cli: ['worker', '--name', 'NAME', '--slots', '4'] },
      ]}
    >
      <FilteredList
        filters={FILTERS}
        label="Workers"
        columns={columns}
        list={{ ...list, rows, total: isFiltered || !list.more ? rows?.length : list.total }}
        keyOf={({ id }) => id}
        hrefOf={pathOf}
        bulk={(workers, clear) => <WorkerActions workers={workers} onDone={clear} />}
        none="No workers"
        advice={
          <>
            <p>Start one on a machine that has the tools, with the settings of this server:</p>
            <CopyLine text="scanfarm worker" />
          </>
        }
      >
        {forgotten === 0 ? null : (
          <p className="muted">
            <Link href="/workers?status=lost">{plural(forgotten, 'worker')}</Link> lost more than an hour ago{' '}
            {forgotten === 1 ? 'is' : 'are'} not shown.
          </p>
        )}
      </FilteredList>
    </Page>
  )
}
