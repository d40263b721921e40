import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../api/client.ts'
import { trafficQuery } from '../../api/scopes.ts'
import {
  FieldsInLine,
  text,
  Button,
  DataTable,
  Form,
  Link,
  localTimeOf,
  StatusBadge,
  Time,
  timeOfLocal,
  useFilters,
  column,
  type Column,
} from '../../ui/index.ts'

type Run = Schemas['Traffic']
/** A step, or a run of which no step that may have sent something is known. */
type Row = Readonly<{ key: string; run: Run; step?: Run['steps'][number] }>

const rowsOf = (run: Run): readonly Row[] => {
  const rows = run.steps
    .filter(({ sends_nothing: local }) => !local)
    .map((step, index) => ({ key: `${run.run_uuid} ${index}`, run, step }))
  return rows.length === 0 ? [{ key: run.run_uuid, run }] : rows
}

const COLUMNS: readonly Column<Row>[] = [
  column('at', 'Time', '96px', ({ run, step }) => <Time at={step?.started_at ?? run.started_at} />),
  column('run', 'Run', 'minmax(120px, 1fr)', ({ run }) => (
    <Link href={`/runs/${run.run_uuid}`} title={run.target}>
      {run.target || run.run_uuid}
    </Link>
  )),
  column('why', 'Had the host as', 'minmax(120px, 1fr)', ({ run }) => {
    const text = run.destinations.map(({ place, host }) => `${place} ${host}`).join(', ')
    return <span title={text}>{text}</span>
  }),
  column('workflow', 'Workflow', { width: '110px', hidden: true }, ({ run }) => run.workflow),
  column('step', 'Step', '110px', ({ step }) => step?.name),
  column('command', 'Command', 'minmax(200px, 3fr)', ({ step }) => (
    <code title={step?.command}>{step?.command}</code>
  )),
  column('worker', 'Worker', '130px', ({ run: { worker, hostname } }) => (
    <span title={`${worker} on ${hostname}`}>{worker}</span>
  )),
  column('from', 'From', '110px', ({ run }) => run.egress_address || 'its network'),
  column('scope', 'Scope', '90px', ({ run }) => run.scope),
  column('status', 'Status', { width: '104px', hidden: true }, ({ run }) => (
    <StatusBadge status={run.status} />
  )),
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
        none="It was not us"
        advice="No run that is kept had this host in this time."
      />
    </>
  )
}

const FIELDS = [
  text('address', 'Address or name of the host', { required: true }),
  text('from', 'From (empty: a day before)', { type: 'datetime-local' }),
  text('to', 'To (empty: now)', { type: 'datetime-local' }),
]

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
        <div className="line form-line">
          <FieldsInLine fields={FIELDS} values={{ address, from: localTimeOf(from), to: localTimeOf(to) }} />
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
