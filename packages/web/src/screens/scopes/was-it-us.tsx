import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../api/client.ts'
import { trafficQuery } from '../../api/scopes.ts'
import {
  Button,
  DataTable,
  EmptyState,
  Field,
  Form,
  Link,
  localTimeOf,
  StatusBadge,
  Time,
  timeOfLocal,
  useFilters,
  type Column,
} from '../../ui/index.ts'

type Run = Schemas['Traffic']
/** A step, or a run of which no step is known. */
type Row = Readonly<{ key: string; run: Run; step?: Run['steps'][number] }>

const rowsOf = (run: Run): readonly Row[] => {
  const rows = run.steps.map((step, index) => ({ key: `${run.run_uuid} ${index}`, run, step }))
  return rows.length === 0 ? [{ key: run.run_uuid, run }] : rows
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'at',
    label: 'Time',
    width: '96px',
    cell: ({ run, step }) => <Time at={step?.started_at ?? run.started_at} />,
  },
  {
    id: 'run',
    label: 'Run',
    width: 'minmax(120px, 1fr)',
    cell: ({ run }) => (
      <Link href={`/runs/${run.run_uuid}`} title={run.target}>
        {run.target || run.run_uuid}
      </Link>
    ),
  },
  {
    id: 'why',
    label: 'Had the host as',
    width: 'minmax(120px, 1fr)',
    cell: ({ run }) => {
      const text = run.destinations.map(({ place, host }) => `${place} ${host}`).join(', ')
      return <span title={text}>{text}</span>
    },
  },
  {
    id: 'workflow',
    label: 'Workflow',
    width: '110px',
    hidden: true,
    cell: ({ run }) => <span title={run.workflow}>{run.workflow}</span>,
  },
  {
    id: 'step',
    label: 'Step',
    width: '110px',
    cell: ({ step }) => <span title={step?.name}>{step?.name}</span>,
  },
  {
    id: 'command',
    label: 'Command',
    width: 'minmax(200px, 3fr)',
    cell: ({ step }) => <code title={step?.command}>{step?.command}</code>,
  },
  {
    id: 'worker',
    label: 'Worker',
    width: '130px',
    cell: ({ run: { worker, hostname } }) => <span title={`${worker} on ${hostname}`}>{worker}</span>,
  },
  { id: 'from', label: 'From', width: '110px', cell: ({ run }) => run.egress_address || 'its network' },
  {
    id: 'scope',
    label: 'Scope',
    width: '90px',
    cell: ({ run }) => <span title={run.scope}>{run.scope}</span>,
  },
  {
    id: 'status',
    label: 'Status',
    width: '104px',
    hidden: true,
    cell: ({ run }) => <StatusBadge status={run.status} />,
  },
]

const Answer = ({ address, from, to }: { address: string; from?: string; to?: string }) => {
  const { data, error, refetch } = useQuery(
    trafficQuery({ address, ...(from ? { from } : {}), ...(to ? { to } : {}) }),
  )
  const rows = data?.data.flatMap(rowsOf)
  return (
    <>
      <p role="status">{data?.message}</p>
      <DataTable
        label="Steps that may have sent traffic"
        columns={COLUMNS}
        list={{ rows, total: rows?.length, error, retry: () => void refetch() }}
        keyOf={({ key }) => key}
        empty={<EmptyState title="It was not us">No run that is kept had this host in this time.</EmptyState>}
      />
    </>
  )
}

/** Which runs and commands may have sent traffic to a host. */
export const WasItUs = () => {
  const [{ address, from, to }, set] = useFilters(['address', 'from', 'to'])
  return (
    <div className="stack">
      <Form
        key={`${address} ${from} ${to}`}
        onSubmit={(values) =>
          set({
            address: (values['address'] ?? '').trim(),
            from: timeOfLocal(values['from']),
            to: timeOfLocal(values['to']),
          })
        }
      >
        <div className="form-line">
          <Field
            name="address"
            label="Address or name of the host"
            defaultValue={address}
            autoComplete="off"
            required
          />
          <Field
            name="from"
            label="From (empty: a day before)"
            type="datetime-local"
            defaultValue={localTimeOf(from)}
          />
          <Field name="to" label="To (empty: now)" type="datetime-local" defaultValue={localTimeOf(to)} />
          <Button type="submit" kind="primary">
            Search
          </Button>
        </div>
      </Form>
      {address === undefined ? (
        <p className="muted">
          The answer to who sent traffic to a host names the runs, their commands, workers and scopes.
        </p>
      ) : (
        <Answer address={address} from={from} to={to} />
      )}
    </div>
  )
}
