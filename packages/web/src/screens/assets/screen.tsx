import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import {
  ASSET_FILTERS,
  assetFacetsQuery,
  assetQueryOf,
  assetsQuery,
  assetTotalQuery,
  type Asset,
  type AssetFilters,
} from '../../api/assets.ts'
import { workspaceNamesQuery } from '../../api/findings.ts'
import {
  Commands,
  DataTable,
  EmptyState,
  Facet,
  FacetedList,
  FilterBar,
  hrefWith,
  Link,
  LinkButton,
  Page,
  SavedFilters,
  SEEN_COLUMNS,
  StateViews,
  useFilters,
  useList,
  type Column,
} from '../../ui/index.ts'

/** `field`: the name in the answer. */
const FACETS = [
  { name: 'asset_type', field: 'asset_type', label: 'Type' },
  { name: 'workspace', field: 'workspace', label: 'Workspace' },
  { name: 'port', field: 'port', label: 'Open port', single: true },
  { name: 'tech', field: 'technology', label: 'Technology' },
  { name: 'status_code', field: 'status_code', label: 'HTTP status' },
  { name: 'source', field: 'source', label: 'Source' },
] as const

const COLUMNS: readonly Column<Asset>[] = [
  {
    id: 'asset',
    label: 'Asset',
    width: 'minmax(160px, 3fr)',
    cell: ({ id, url, asset_value }) => (
      <Link href={`/assets/${id}`} title={url || asset_value}>
        {url || asset_value}
      </Link>
    ),
  },
  { id: 'type', label: 'Type', width: '60px', cell: ({ asset_type }) => asset_type },
  {
    id: 'title',
    label: 'Title',
    width: 'minmax(80px, 2fr)',
    cell: ({ title }) => <span title={title}>{title}</span>,
  },
  {
    id: 'status',
    label: 'HTTP',
    width: '44px',
    cell: ({ status_code }) => (status_code === 0 ? '' : <span className="number">{status_code}</span>),
  },
  {
    id: 'ports',
    label: 'Open ports',
    width: 'minmax(80px, 1fr)',
    cell: ({ open_ports }) => (
      <span className="number" title={open_ports.join(', ')}>
        {open_ports.join(', ')}
      </span>
    ),
  },
  {
    id: 'tech',
    label: 'Technologies',
    width: 'minmax(90px, 2fr)',
    cell: ({ technologies }) => <span title={technologies.join(', ')}>{technologies.join(', ')}</span>,
  },
  { id: 'workspace', label: 'Workspace', width: '100px', cell: ({ workspace }) => workspace },
  ...SEEN_COLUMNS,
  { id: 'ip', label: 'Address', width: '120px', hidden: true, cell: ({ host_ip }) => host_ip },
  { id: 'source', label: 'Source', width: '90px', hidden: true, cell: ({ source }) => source },
  {
    id: 'remarks',
    label: 'Remarks',
    width: 'minmax(100px, 1fr)',
    hidden: true,
    cell: ({ remarks }) => remarks.join(', '),
  },
]

/** Each facet shows the counts without its own choice, so that another value can be added. */
const useFacets = (filters: AssetFilters) => {
  const results = useQueries({
    queries: FACETS.map(({ name }) => assetFacetsQuery({ ...filters, [name]: undefined })),
  })
  return FACETS.map(({ field }, index) =>
    // An unknown status is 0.
    results[index]?.data?.[field].filter(({ value }) => field !== 'status_code' || value !== '0'),
  )
}

const Views = ({ filters }: { filters: AssetFilters }) => {
  const rest = { ...filters, state: undefined, since: undefined }
  const { data: facets } = useQuery(assetFacetsQuery({ ...rest, state: 'open,gone' }))
  const { data: fresh } = useQuery(assetTotalQuery({ ...rest, since: '24h' }))
  return <StateViews path="/assets" filters={filters} facets={facets} fresh={fresh} />
}

export const Screen = () => {
  const [filters] = useFilters(ASSET_FILTERS)
  const navigate = useNavigate()
  const list = useList(assetsQuery(filters))
  const facets = useFacets(filters)
  const { data: workspaces = [] } = useQuery(workspaceNamesQuery)
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Page
      title="Assets"
      actions={
        <>
          <Commands
            lines={[{ title: 'List these assets', api: ['GET', hrefWith('/assets', assetQueryOf(filters))] }]}
          />
          <LinkButton to={hrefWith('/changes', { kind: 'assets', workspace: filters.workspace, from: '7d' })}>
            What changed
          </LinkButton>
        </>
      }
    >
      <Views filters={filters} />
      <FilterBar
        filters={[
          { name: 'search', label: 'Name, URL or title' },
          { name: 'workspace', label: 'Workspace', suggestions: workspaces },
          { name: 'port', label: 'Open port' },
          { name: 'tech', label: 'Technology' },
          { name: 'run_id', label: 'Last seen by run' },
        ]}
        others={['asset_type', 'status_code', 'source']}
      >
        <SavedFilters screen="assets" names={ASSET_FILTERS} />
      </FilterBar>
      <FacetedList
        facets={FACETS.map((facet, index) => (
          <Facet key={facet.name} {...facet} values={facets[index]} />
        ))}
      >
        <DataTable
          label="Assets"
          columns={COLUMNS}
          list={list}
          keyOf={({ id }) => String(id)}
          onOpen={({ id }) => void navigate({ href: `/assets/${id}` })}
          empty={
            <EmptyState title={filters.since ? 'Nothing new' : 'No assets'}>
              {isFiltered ? (
                <>
                  No asset matches these filters. <Link href="/assets">Show all open assets</Link>
                </>
              ) : (
                <>
                  Hosts, ports and URLs that runs find appear here.{' '}
                  <Link href="/workflows">Start a workflow</Link>
                </>
              )}
            </EmptyState>
          }
        />
      </FacetedList>
    </Page>
  )
}
