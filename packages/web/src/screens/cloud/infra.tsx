import { useQuery } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import { hasEnded, infraQuery, pathOf, type Infra, type Machine } from '../../api/cloud.ts'
import {
  Confirm,
  DataTable,
  Duration,
  ErrorPanel,
  KeyValues,
  Link,
  Page,
  plural,
  Skeleton,
  StatusBadge,
  Time,
  column,
  type Column,
} from '../../ui/index.ts'
import { costSoFar, dollars } from './cost.ts'

const COLUMNS: readonly Column<Machine>[] = [
  column('name', 'Machine', 'minmax(220px, 2fr)', 'name'),
  column('status', 'Status', '120px', ({ status }) => <StatusBadge status={status} />),
  column('runs', 'Runs', { width: '60px', align: 'end' }, 'running_runs'),
  column('address', 'Address', 'minmax(120px, 1fr)', 'address'),
  column('age', 'Existed for', { width: '90px', align: 'end' }, ({ created_at, destroyed_at }) => (
    <Duration from={created_at} to={destroyed_at} />
  )),
  column('boot', 'Ready after', { width: '90px', align: 'end' }, ({ created_at, ready_at }) =>
    ready_at === null ? <span className="muted">–</span> : <Duration from={created_at} to={ready_at} />,
  ),
  column('resource', 'Provider id', { width: '140px', hidden: true }, 'resource_id'),
  column('message', 'Message', 'minmax(180px, 2fr)', 'message'),
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
  const running = infra.details.reduce((sum, machine) => sum + machine.running_runs, 0)
  return (
    <Confirm
      trigger="Destroy"
      title={`Destroy infrastructure ${infra.infra_id}?`}
      action={`Destroy ${plural(infra.instances, 'machine')}`}
      danger
      needs="admin"
      refusal={infra.status === 'draining' ? 'Its machines are being destroyed.' : undefined}
      refresh={['cloud', 'infra', 'overview']}
      onConfirm={() => answer(api.DELETE('/cloud/instances/{infra_id}', pathOf(infra.infra_id)))}
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
      commands={[
        { title: 'Show it', cli: ['cloud', 'show', id], api: ['GET', `/cloud/instances/${id}`] },
        { title: 'Destroy it', cli: ['cloud', 'destroy', id], api: ['DELETE', `/cloud/instances/${id}`] },
      ]}
      actions={hasEnded(infra) ? null : <Destroy infra={infra} />}
    >
      {error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : null}
      {infra.message === '' ? null : (
        <p className={infra.status === 'failed' ? 'tone-bad' : 'muted'}>{infra.message}</p>
      )}
      <Course infra={infra} />
      <KeyValues
        facts={{
          Status: <StatusBadge status={infra.status} />,
          'Ready machines': `${infra.ready_count} of ${infra.instances}`,
          'Cost so far': dollars(costSoFar(infra, dataUpdatedAt)),
          'Cost an hour': dollars(infra.hourly_cost, 4),
          'Cost at most': dollars(infra.estimated_cost),
          Expires: hasEnded(infra) ? '' : <Time at={infra.expires_at} />,
          Provider: infra.provider,
          Region: infra.region,
          Type: infra.instance_type,
          'Spot machines': infra.use_spot ? 'yes' : 'no',
          'After the last run': infra.auto_destroy ? 'destroyed' : 'kept until it expires',
        }}
      />
      <DataTable
        label="Machines"
        columns={COLUMNS}
        list={{ rows: infra.details, total: infra.details.length }}
        keyOf={({ name }) => name}
        none="No machines"
      />
    </Page>
  )
}
