import { auditQuery, type AuditFilters } from '../../api/access.ts'
import type { Schemas } from '../../api/client.ts'
import { FilteredList, Time, useFilters, useList, type Column, type Filter } from '../../ui/index.ts'

type Entry = Schemas['AuditEntry']

const FILTERS: readonly Filter[] = [
  { name: 'caller', label: 'User or token' },
  { name: 'method', label: 'Method', options: ['POST', 'PUT', 'PATCH', 'DELETE'] },
  { name: 'path', label: 'Path contains' },
]
const NAMES = FILTERS.map(({ name }) => name)

const COLUMNS: readonly Column<Entry>[] = [
  { id: 'at', label: 'Time', width: '100px', cell: ({ at }) => <Time at={at} /> },
  {
    id: 'caller',
    label: 'Caller',
    width: 'minmax(140px, 1fr)',
    cell: ({ caller, kind }) => (
      <>
        {caller} <span className="muted">{kind}</span>
      </>
    ),
  },
  { id: 'role', label: 'Role', width: '80px', cell: ({ role }) => role },
  { id: 'method', label: 'Method', width: '72px', cell: ({ method }) => <code>{method}</code> },
  {
    id: 'path',
    label: 'Path',
    width: 'minmax(220px, 3fr)',
    cell: ({ path }) => <code title={path}>{path}</code>,
  },
  { id: 'status', label: 'Status', width: '64px', align: 'end', cell: ({ status }) => status },
  {
    id: 'route',
    label: 'Route',
    width: 'minmax(160px, 2fr)',
    hidden: true,
    cell: ({ route }) => <code>{route}</code>,
  },
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
