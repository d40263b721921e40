import '../../styles/findings.css'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  EXPORT_FORMATS,
  FINDING_FILTERS,
  findingFacetsQuery,
  findingQueryOf,
  findingsQuery,
  SEVERITIES,
  workspaceNamesQuery,
  type Finding,
  type FindingFilters,
  type Scope,
} from '../../api/findings.ts'
import { useRefusal } from '../../api/role.ts'
import {
  Button,
  Commands,
  DataTable,
  EmptyState,
  Facet,
  FacetedList,
  FilterBar,
  FindingStatus,
  hrefWith,
  Link,
  Menu,
  Page,
  SavedFilters,
  SEEN_COLUMNS,
  Severity,
  useFilters,
  useList,
  useShortcut,
  type Column,
  type FacetValue,
} from '../../ui/index.ts'
import { Import } from './import.tsx'
import { Triage, type ChangeId } from './triage.tsx'
import { Views } from './views.tsx'

const FACETS = [
  { name: 'severity', label: 'Severity' },
  { name: 'verdict', label: 'Verdict' },
  { name: 'seen', label: 'Seen by the last scan' },
  { name: 'workspace', label: 'Workspace' },
  { name: 'asset_type', label: 'Asset type' },
  { name: 'source', label: 'Source', single: true },
  { name: 'confidence', label: 'Confidence' },
  { name: 'assignee', label: 'Assignee', single: true },
  { name: 'asset_value', label: 'Asset', single: true },
] as const

const columnsOf = (filters: FindingFilters): readonly Column<Finding>[] => [
  {
    id: 'severity',
    label: 'Severity',
    width: '82px',
    cell: ({ severity }) => <Severity severity={severity} />,
  },
  {
    id: 'title',
    label: 'Finding',
    width: 'minmax(190px, 3fr)',
    cell: ({ id, vuln_title, vuln_info }) => (
      <Link href={hrefWith(`/findings/${id}`, filters)} title={vuln_title}>
        {vuln_title || vuln_info || `finding ${id}`}
      </Link>
    ),
  },
  {
    id: 'asset',
    label: 'Asset',
    width: 'minmax(150px, 2fr)',
    cell: ({ asset_value }) => <span title={asset_value}>{asset_value}</span>,
  },
  { id: 'workspace', label: 'Workspace', width: '100px', cell: ({ workspace }) => workspace },
  { id: 'status', label: 'Status', width: '118px', cell: (finding) => <FindingStatus finding={finding} /> },
  ...SEEN_COLUMNS.filter(({ id }) => id !== 'state'),
  {
    id: 'seen',
    label: 'Seen by',
    width: '72px',
    cell: ({ times_seen, run_uuid, source }) =>
      run_uuid === '' ? (
        <span className="muted">{source}</span>
      ) : (
        <Link href={`/runs/${run_uuid}`}>{times_seen === 1 ? '1 scan' : `${times_seen} scans`}</Link>
      ),
  },
  { id: 'info', label: 'Identifier', width: '150px', hidden: true, cell: ({ vuln_info }) => vuln_info },
  {
    id: 'tags',
    label: 'Tags',
    width: 'minmax(100px, 1fr)',
    hidden: true,
    cell: ({ tags }) => tags.join(', '),
  },
  {
    id: 'confidence',
    label: 'Confidence',
    width: '104px',
    hidden: true,
    cell: ({ confidence }) => confidence,
  },
  { id: 'type', label: 'Type', width: '84px', hidden: true, cell: ({ asset_type }) => asset_type },
]

/** Each facet shows the counts without its own choice, so that another value can be added. */
const useFacets = (filters: FindingFilters): readonly (readonly FacetValue[] | undefined)[] => {
  const results = useQueries({
    queries: FACETS.map(({ name }) => findingFacetsQuery({ ...filters, [name]: undefined })),
  })
  return FACETS.map(({ name }, index) => {
    const values = results[index]?.data?.[name]
    if (name !== 'severity') return values
    return SEVERITIES.flatMap((severity) => values?.filter(({ value }) => value === severity) ?? [])
  })
}

const exportPath = (filters: FindingFilters, format: string): string =>
  hrefWith('/vulnerabilities/export', { ...findingQueryOf(filters), format })

const download = (path: string): void => {
  const link = document.createElement('a')
  link.href = `/api${path}`
  link.download = ''
  link.click()
}

interface BulkProps {
  readonly rows: readonly Finding[]
  readonly onTriage: (ids: number[], first?: ChangeId) => void
}

const Bulk = ({ rows, onTriage }: BulkProps) => {
  const refusal = useRefusal('operator')
  const triage = (first?: ChangeId) =>
    onTriage(
      rows.map(({ id }) => id),
      first,
    )
  const choose = (first: ChangeId) => () => refusal === undefined && triage(first)
  useShortcut('c', 'Confirm the selected findings', choose('confirmed'))
  useShortcut('f', 'False positives', choose('false_positive'))
  useShortcut('a', 'Accept the risk of the selected findings', choose('accepted'))
  useShortcut('d', 'Mark the selected findings as fixed', choose('fixed_claimed'))
  useShortcut('t', 'Triage the selected findings', () => {
    if (refusal !== undefined) return false
    triage()
    return true
  })
  return (
    <Button refusal={refusal} onClick={() => triage()}>
      Triage <kbd>t</kbd>
    </Button>
  )
}

export const Screen = () => {
  const [filters] = useFilters(FINDING_FILTERS)
  const navigate = useNavigate()
  const refusal = useRefusal('operator')
  const list = useList(findingsQuery(filters))
  const facets = useFacets(filters)
  const { data: workspaces = [] } = useQuery(workspaceNamesQuery)
  const [triage, setTriage] = useState<{ scope: Scope; first?: ChangeId; clear?: () => void }>()
  const isFiltered = Object.keys(filters).length > 0
  const query = hrefWith('/vulnerabilities', findingQueryOf(filters))
  const total = list.total ?? 0
  return (
    <Page
      title="Findings"
      actions={
        <>
          <Commands
            lines={[
              { title: 'List these findings', api: ['GET', query] },
              { title: 'Export them', api: ['GET', exportPath(filters, 'sarif')] },
            ]}
          />
          <Menu
            label="Export"
            items={EXPORT_FORMATS.map((format) => ({
              label: `Export as ${format}`,
              onSelect: () => download(exportPath(filters, format)),
            }))}
          >
            Export
          </Menu>
          <Import workspace={filters.workspace ?? ''} />
          <Button
            refusal={refusal}
            disabled={total === 0}
            onClick={() => setTriage({ scope: { filters, total } })}
          >
            Triage all {total.toLocaleString()}
          </Button>
        </>
      }
    >
      <Views filters={filters} />
      <FilterBar
        filters={[
          { name: 'search', label: 'Title, identifier or asset' },
          { name: 'asset_value', label: 'Asset' },
          { name: 'workspace', label: 'Workspace', suggestions: workspaces },
          { name: 'tag', label: 'Tag' },
          { name: 'run_id', label: 'Last seen by run' },
        ]}
        others={['severity', 'verdict', 'seen', 'back', 'assignee', 'asset_type', 'source', 'confidence']}
      >
        <SavedFilters screen="findings" names={FINDING_FILTERS} />
      </FilterBar>
      <FacetedList
        facets={FACETS.map((facet, index) => (
          <Facet
            key={facet.name}
            {...facet}
            values={facets[index]}
            show={facet.name === 'severity' ? (value) => <Severity severity={value} /> : undefined}
          />
        ))}
      >
        <DataTable
          label="Findings"
          columns={columnsOf(filters)}
          list={list}
          keyOf={({ id }) => String(id)}
          onOpen={({ id }) => void navigate({ href: hrefWith(`/findings/${id}`, filters) })}
          bulk={(rows, clear) => (
            <Bulk rows={rows} onTriage={(ids, first) => setTriage({ scope: { ids }, first, clear })} />
          )}
          empty={
            <EmptyState title={filters.since ? 'Nothing new' : 'No findings'}>
              {isFiltered ? (
                <>
                  No finding matches these filters. <Link href="/findings">Show all open findings</Link>
                </>
              ) : (
                <>
                  Findings of runs appear here. <Link href="/workflows">Start a workflow</Link>, or import the
                  file of a scanner.
                </>
              )}
            </EmptyState>
          }
        />
      </FacetedList>
      {triage ? (
        <Triage
          scope={triage.scope}
          first={triage.first}
          onClose={() => setTriage(undefined)}
          onDone={() => triage.clear?.()}
        />
      ) : null}
    </Page>
  )
}
