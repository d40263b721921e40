import { useNavigate } from '@tanstack/react-router'
import { hasEnded, infrasQuery, type Infra, type InfraFilters } from '../../api/cloud.ts'
import {
  Badge,
  FilteredList,
  Link,
  Time,
  useFilters,
  useList,
  type Column,
  type Filter,
} from '../../ui/index.ts'
import { costSoFar, dollars } from './cost.ts'

type Tone = Parameters<typeof Badge>[0]['tone']

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

const TONES: Readonly<Record<string, Tone>> = {
  requested: 'wait',
  provisioning: 'busy',
  booting: 'busy',
  ready: 'good',
  draining: 'warn',
  destroying: 'warn',
  destroyed: 'off',
  failed: 'bad',
}

/** Of an infrastructure or a machine. */
export const CloudStatus = ({ status }: { status: string }) => (
  <Badge tone={TONES[status] ?? 'off'}>{status}</Badge>
)

export const infraPath = ({ infra_id }: Infra): string => `/cloud?infra=${encodeURIComponent(infra_id)}`

const COLUMNS: readonly Column<Infra>[] = [
  {
    id: 'id',
    label: 'Infrastructure',
    width: '136px',
    cell: (infra) => (
      <Link href={infraPath(infra)}>
        <code>{infra.infra_id}</code>
      </Link>
    ),
  },
  { id: 'status', label: 'Status', width: '112px', cell: ({ status }) => <CloudStatus status={status} /> },
  {
    id: 'machines',
    label: 'Ready',
    width: '64px',
    align: 'end',
    cell: ({ ready_count, instances }) => (
      <span className="number">
        {ready_count} of {instances}
      </span>
    ),
  },
  {
    id: 'type',
    label: 'Machines',
    width: 'minmax(180px, 2fr)',
    cell: ({ provider, region, instance_type, use_spot }) =>
      [provider, region, instance_type, use_spot ? 'spot' : ''].filter(Boolean).join(' · '),
  },
  { id: 'age', label: 'Created', width: '76px', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'left',
    label: 'Expires',
    width: '64px',
    cell: (infra) => (hasEnded(infra) ? <span className="muted">–</span> : <Time at={infra.expires_at} />),
  },
  {
    id: 'rate',
    label: 'An hour',
    width: '76px',
    align: 'end',
    cell: ({ hourly_cost }) => <span className="number">{dollars(hourly_cost, 4)}</span>,
  },
  {
    id: 'cost',
    label: 'Cost so far',
    width: '84px',
    align: 'end',
    cell: (infra) => <span className="number">{dollars(costSoFar(infra, Date.now()))}</span>,
  },
  {
    id: 'most',
    label: 'At most',
    width: '76px',
    align: 'end',
    cell: ({ estimated_cost }) => <span className="number">{dollars(estimated_cost)}</span>,
  },
  {
    id: 'message',
    label: 'Message',
    width: 'minmax(140px, 2fr)',
    cell: ({ message }) => <span title={message}>{message}</span>,
  },
]

export const Infras = () => {
  const [filters] = useFilters(['status', 'provider'])
  const navigate = useNavigate()
  return (
    <div className="stack">
      <FilteredList
        filters={FILTERS}
        label="Infrastructures"
        columns={COLUMNS}
        list={useList(infrasQuery(filters as InfraFilters))}
        keyOf={({ infra_id }) => infra_id}
        onOpen={(infra) => void navigate({ href: infraPath(infra) })}
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
