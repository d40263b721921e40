import { auditQuery, type AuditFilters } from '../../api/access.ts'
import type { Schemas } from '../../api/client.ts'
import { column, FilteredList, Time, useFilters, useList, type Column, type Filter } from '../../ui/index.ts'

type Entry = Schemas['AuditEntry']

const FILTERS: readonly Filter[] = [
  { name: 'caller', label: 'User or token' },
  { name: 'method', label: 'Method', options: ['POST', 'PUT', 'PATCH', 'DELETE'] },
  { name: 'path', label: 'Path contains' },
]
const NAMES = FILTERS.map(({ name }) => name)

const COLUMNS: readonly Column<Entry>[] = [
  column('at', 'Time', '100px', ({ at }) => <Time at={at} />),
  column('caller', 'Caller', 'minmax(140px, 1fr)', ({ caller, kind }) => (
    <>
      {caller} <span className="muted">{kind}</span>
    </>
  )),
  column('role', 'Role', '80px', 'role'),
  column('method', 'Method', '72px', ({ method }) => <code>{method}</code>),
  column('path', 'Path', 'minmax(220px, 3fr)', ({ path }) => <code title={path}>{path}</code>),
  column('status', 'Status', { width: '64px', align: 'end' }, 'status'),
  column('route', 'Route', { width: 'minmax(160px, 2fr)', hidden: true }, ({ route }) => (
    <code>{route}</code>
  )),
]

export const Audit = () => {
  const [filters] = useFilters(NAMES)
  return (
    <div className="stack">
      <FilteredList
        filters={FILTERS}
        label="Audit"
        columns={COLUMNS}
        list={useList(auditQuery(filters as AuditFilters))}
        keyOf={({ id }) => String(id)}
        none="No changes"
        advice="Each change over the API appears here: who made it, and when. Entries are kept for 90 days."
      />
    </div>
  )
}
