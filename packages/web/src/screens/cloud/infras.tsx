import { hasEnded, infrasQuery, type Infra, type InfraFilters } from '../../api/cloud.ts'
import {
  FilteredList,
  Link,
  StatusBadge,
  Time,
  useFilters,
  useList,
  column,
  type Column,
  type Filter,
} from '../../ui/index.ts'
import { costSoFar, dollars } from './cost.ts'

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    options: ['requested', 'provisioning', 'ready', 'draining', 'destroyed', 'failed'],
  },
  {
    name: 'provider',
    label: 'Provider',
    options: ['aws', 'azure', 'digitalocean', 'gcp', 'hetzner', 'linode', 'local'],
  },
]

export const infraPath = ({ infra_id }: Infra): string => `/cloud?infra=${encodeURIComponent(infra_id)}`

const COLUMNS: readonly Column<Infra>[] = [
  column('id', 'Infrastructure', '136px', (infra) => (
    <Link href={infraPath(infra)}>
      <code>{infra.infra_id}</code>
    </Link>
  )),
  column('status', 'Status', '112px', ({ status }) => <StatusBadge status={status} />),
  column('machines', 'Ready', { width: '64px', align: 'end' }, ({ ready_count, instances }) => (
    <span className="number">
      {ready_count} of {instances}
    </span>
  )),
  column('type', 'Machines', 'minmax(180px, 2fr)', ({ provider, region, instance_type, use_spot }) =>
    [provider, region, instance_type, use_spot ? 'spot' : ''].filter(Boolean).join(' · '),
  ),
  column('age', 'Created', '76px', ({ created_at }) => <Time at={created_at} />),
  column('left', 'Expires', '64px', (infra) =>
    hasEnded(infra) ? <span className="muted">–</span> : <Time at={infra.expires_at} />,
  ),
  column('rate', 'An hour', { width: '76px', align: 'end' }, ({ hourly_cost }) => (
    <span className="number">{dollars(hourly_cost, 4)}</span>
  )),
  column('cost', 'Cost so far', { width: '84px', align: 'end' }, (infra) => (
    <span className="number">{dollars(costSoFar(infra, Date.now()))}</span>
  )),
  column('most', 'At most', { width: '76px', align: 'end' }, ({ estimated_cost }) => (
    <span className="number">{dollars(estimated_cost)}</span>
  )),
  column('message', 'Message', 'minmax(140px, 2fr)', 'message'),
]

export const Infras = () => {
  const [filters] = useFilters(['status', 'provider'])
  return (
    <div className="stack">
      <FilteredList
        filters={FILTERS}
        label="Infrastructures"
        columns={COLUMNS}
        list={useList(infrasQuery(filters as InfraFilters))}
        keyOf={({ infra_id }) => infra_id}
        hrefOf={infraPath}
        none="No cloud machines"
        advice={
          <>
            Start a workflow with the mode cloud, or create machines with the command line:{' '}
            <code>scanfarm cloud create</code>
          </>
        }
      />
    </div>
  )
}
