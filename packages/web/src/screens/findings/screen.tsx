import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import {
  EXPORT_FORMATS,
  FINDING_FILTERS,
  FIRST_SORT,
  GROUP_BY,
  findingFacetsQuery,
  findingQueryOf,
  findingTotalQuery,
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
  DataTable,
  Facet,
  FacetedList,
  FilterBar,
  hrefWith,
  Link,
  Menu,
  Opener,
  Page,
  ReportLink,
  SavedFilters,
  Severity,
  StateViews,
  useFilters,
  useList,
  useShortcut,
  type FacetValue,
} from '../../ui/index.ts'
import { columnsOf } from './columns.tsx'
import { FilesDialog } from './cve-files.tsx'
import { Groups } from './groups.tsx'
import { ImportDialog } from './import.tsx'
import { Triage, type ChangeId } from './triage.tsx'

const FACETS = [
  { name: 'severity', label: 'Severity' },
  { name: 'verdict', label: 'Verdict' },
  { name: 'seen', label: 'Seen by the last scan' },
  { name: 'workspace', label: 'Workspace' },
  { name: 'asset_type', label: 'Asset type' },
  { name: 'source', label: 'Source', single: true },
  { name: 'confidence', label: 'Confidence' },
  { name: 'assignee', label: 'Assignee', single: true },
  { name: 'host', label: 'Host', single: true },
] as const

const inWords = (value: string): string => value.replaceAll('_', ' ')
/** How values of facets are shown that are no text. */
const SHOWN: Readonly<Record<string, (value: string) => ReactNode>> = {
  severity: (value) => <Severity severity={value} />,
  verdict: inWords,
  seen: inWords,
}

/** Each facet shows the counts without its own choice, so that another value can be added. */
const useFacets = (filters: FindingFilters): readonly (readonly FacetValue[] | undefined)[] => {
  const names = FACETS.map(({ name }) => name)
  // Hosts take longer than all others, which do not wait for them.
  const apart = names.filter((name) => name === 'host' || filters[name] !== undefined)
  const others = names.filter((name) => !apart.includes(name))
  const client = useQueryClient()
  const [rest, ...each] = useQueries({
    queries: [
      findingFacetsQuery(client, filters, others),
      ...apart.map((name) => findingFacetsQuery(client, { ...filters, [name]: undefined }, [name])),
    ],
  })
  return FACETS.map(({ name }) => {
    const values = (each[apart.indexOf(name)] ?? rest)?.data?.[name]
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
  const [filters, set] = useFilters(FINDING_FILTERS)
  const [{ group }] = useFilters(['group'])
  const by = GROUP_BY.find((each) => each === group)
  const list = useList(findingsQuery(filters))
  const facets = useFacets(filters)
  const { data: workspaces = [] } = useQuery(workspaceNamesQuery)
  const [triage, setTriage] = useState<{ scope: Scope; first?: ChangeId; clear?: () => void }>()
  const isFiltered = Object.keys(filters).length > 0
  const empty = {
    none: filters.since ? 'Nothing new' : 'No findings',
    advice: isFiltered ? (
      <>
        No finding matches these filters. <Link href="/findings">Show all open findings</Link>
      </>
    ) : (
      <>
        Findings of runs appear here. <Link href="/workflows">Start a workflow</Link>, or import the file of a
        scanner.
      </>
    ),
  }
  const query = hrefWith('/vulnerabilities', findingQueryOf(filters))
  const total = list.total ?? 0
  return (
    <Page
      title="Findings"
      commands={[
        { title: 'List these findings', api: ['GET', query] },
        { title: 'Export them', api: ['GET', exportPath(filters, 'sarif')] },
      ]}
      actions={
        <>
          <Menu
            framed
            label="Export"
            items={EXPORT_FORMATS.map((format) => ({
              label: `Export as ${format}`,
              onSelect: () => download(exportPath(filters, format)),
            }))}
          >
            Export
          </Menu>
          {filters.workspace && workspaces.includes(filters.workspace) ? (
            <ReportLink of="workspaces" id={filters.workspace} />
          ) : null}
          <Opener needs="operator" label="Import">
            {(close) => <ImportDialog workspace={filters.workspace ?? ''} onClose={close} />}
          </Opener>
          <Opener label="EPSS, KEV">{(close) => <FilesDialog onClose={close} />}</Opener>
          <Button
            needs="operator"
            disabled={total === 0}
            onClick={() => setTriage({ scope: { filters, total } })}
          >
            Triage all {total.toLocaleString()}
          </Button>
        </>
      }
    >
      <StateViews path="/findings" filters={filters} totalOf={findingTotalQuery} gone="Closed" />
      <FilterBar
        filters={[
          { name: 'search', label: 'Title, identifier or asset' },
          { name: 'asset_value', label: 'Asset' },
          { name: 'group', label: 'Group by', options: GROUP_BY, none: 'nothing' },
          { name: 'workspace', label: 'Workspace', suggestions: workspaces },
          { name: 'tag', label: 'Tag' },
          { name: 'kev', label: 'Known to be exploited', options: ['true', 'false'], none: 'any' },
          { name: 'min_epss', label: 'EPSS from', options: ['0.01', '0.1', '0.5'], none: 'any' },
          { name: 'run_id', label: 'Last seen by run' },
        ]}
        others={[...FACETS.map(({ name }) => name), 'back', 'check']}
      >
        <SavedFilters screen="findings" names={FINDING_FILTERS} />
      </FilterBar>
      <FacetedList
        facets={FACETS.map((facet, index) => (
          <Facet key={facet.name} {...facet} values={facets[index]} show={SHOWN[facet.name]} />
        ))}
      >
        {by ? (
          <Groups key={by} filters={filters} by={by} {...empty} />
        ) : (
          <DataTable
            {...empty}
            label="Findings"
            columns={columnsOf(filters)}
            list={list}
            order={{ value: filters.sort ?? FIRST_SORT, onChange: (sort) => set({ sort }) }}
            keyOf={({ id }) => String(id)}
            hrefOf={({ id }) => hrefWith(`/findings/${id}`, filters)}
            bulk={(rows, clear) => (
              <Bulk rows={rows} onTriage={(ids, first) => setTriage({ scope: { ids }, first, clear })} />
            )}
          />
        )}
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
