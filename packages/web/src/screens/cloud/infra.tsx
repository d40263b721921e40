import { useQuery, useQueryClient } from '@tanstack/react-query'
import { destroyInfra, hasEnded, infraQuery, type Infra, type Machine } from '../../api/cloud.ts'
import { useRefusal } from '../../api/role.ts'
import {
  Commands,
  Confirm,
  DataTable,
  Duration,
  EmptyState,
  ErrorPanel,
  KeyValues,
  Link,
  Page,
  Skeleton,
  Time,
  toast,
  type Column,
} from '../../ui/index.ts'
import { costSoFar, dollars } from './cost.ts'
import { CloudStatus } from './infras.tsx'

const COLUMNS: readonly Column<Machine>[] = [
  {
    id: 'name',
    label: 'Machine',
    width: 'minmax(220px, 2fr)',
    cell: ({ name }) => <span title={name}>{name}</span>,
  },
  { id: 'status', label: 'Status', width: '120px', cell: ({ status }) => <CloudStatus status={status} /> },
  { id: 'runs', label: 'Runs', width: '60px', align: 'end', cell: ({ running_runs }) => running_runs },
  { id: 'address', label: 'Address', width: 'minmax(120px, 1fr)', cell: ({ address }) => address },
  {
    id: 'age',
    label: 'Existed for',
    width: '90px',
    align: 'end',
    cell: ({ created_at, destroyed_at }) => <Duration from={created_at} to={destroyed_at} />,
  },
  {
    id: 'boot',
    label: 'Ready after',
    width: '90px',
    align: 'end',
    cell: ({ created_at, ready_at }) =>
      ready_at === null ? <span className="muted">–</span> : <Duration from={created_at} to={ready_at} />,
  },
  {
    id: 'resource',
    label: 'Provider id',
    width: '140px',
    hidden: true,
    cell: (machine) => machine.resource_id,
  },
  {
    id: 'message',
    label: 'Message',
    width: 'minmax(180px, 2fr)',
    cell: ({ message }) => <span title={message}>{message}</span>,
  },
]

/** The times that the farm has recorded, in their order, and the one that is to come. */
const Course = ({ infra }: { infra: Infra }) => {
  const { created_at, ready_at, destroyed_at, expires_at, status } = infra
  const ended = hasEnded(infra)
  const points: readonly (readonly [name: string, at: string | null, reached: boolean])[] = [
    ['Requested', created_at, true],
    ['Ready', ready_at, ready_at !== null],
    ended
      ? [status === 'failed' ? 'Failed' : 'Destroyed', destroyed_at, true]
      : ['Destroyed at the latest', expires_at, false],
  ]
  return (
    <ol className="list course" aria-label="Course of the infrastructure">
      {points.map(([name, at, reached]) => (
        <li key={name} className={reached ? 'course-reached' : ''}>
          <strong>{name}</strong> <Time at={at} />
        </li>
      ))}
    </ol>
  )
}

const Destroy = ({ infra }: { infra: Infra }) => {
  const queries = useQueryClient()
  const refusal = useRefusal('admin')
  const running = infra.details.reduce((sum, machine) => sum + machine.running_runs, 0)
  return (
    <Confirm
      trigger="Destroy"
      title={`Destroy infrastructure ${infra.infra_id}?`}
      action={`Destroy ${infra.instances} ${infra.instances === 1 ? 'machine' : 'machines'}`}
      danger
      refusal={refusal ?? (infra.status === 'draining' ? 'Its machines are being destroyed.' : undefined)}
      onConfirm={async () => {
        const { message } = await destroyInfra(infra.infra_id)
        toast(message)
        await Promise.all(
          ['cloud', 'infra', 'overview'].map((name) => queries.invalidateQueries({ queryKey: [name] })),
        )
      }}
    >
      <p>
        {running === 0 ? 'No run executes on its machines now.' : `${running} running runs are stopped.`} Runs
        that wait for it are cancelled.
      </p>
    </Confirm>
  )
}

export const InfraPage = ({ id }: { id: string }) => {
  const { data: infra, error, refetch, dataUpdatedAt } = useQuery(infraQuery(id))
  const heading = (
    <>
      <Link href="/cloud">Cloud</Link> / <code>{id}</code>
    </>
  )
  if (!infra)
    return (
      <Page title={`Infrastructure ${id}`} heading={heading}>
        {error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />}
      </Page>
    )
  return (
    <Page
      title={`Infrastructure ${id}`}
      heading={heading}
      actions={
        <>
          <Commands
            lines={[
              { title: 'Show it', cli: ['cloud', 'show', id], api: ['GET', `/cloud/instances/${id}`] },
              {
                title: 'Destroy it',
                cli: ['cloud', 'destroy', id],
                api: ['DELETE', `/cloud/instances/${id}`],
              },
            ]}
          />
          {hasEnded(infra) ? null : <Destroy infra={infra} />}
        </>
      }
    >
      {error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : null}
      {infra.message === '' ? null : (
        <p className={infra.status === 'failed' ? 'tone-bad' : 'muted'}>{infra.message}</p>
      )}
      <Course infra={infra} />
      <KeyValues
        facts={[
          ['Status', <CloudStatus key="status" status={infra.status} />],
          ['Ready machines', `${infra.ready_count} of ${infra.instances}`],
          ['Cost so far', dollars(costSoFar(infra, dataUpdatedAt))],
          ['Cost an hour', dollars(infra.hourly_cost, 4)],
          ['Cost at most', dollars(infra.estimated_cost)],
          ['Expires', hasEnded(infra) ? '' : <Time key="left" at={infra.expires_at} />],
          ['Provider', infra.provider],
          ['Region', infra.region],
          ['Type', infra.instance_type],
          ['Spot machines', infra.use_spot ? 'yes' : 'no'],
          ['After the last run', infra.auto_destroy ? 'destroyed' : 'kept until it expires'],
        ]}
      />
      <DataTable
        label="Machines"
        columns={COLUMNS}
        list={{ rows: infra.details, total: infra.details.length }}
        keyOf={({ name }) => name}
        empty={<EmptyState title="No machines" />}
      />
    </Page>
  )
}
