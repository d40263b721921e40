import { useQueries, useQuery } from '@tanstack/react-query'
import {
  ASSET_FILTERS,
  assetFacetsQuery,
  assetQueryOf,
  assetsQuery,
  assetTotalQuery,
  type AssetFilters,
} from '../../api/assets.ts'
import { workspaceNamesQuery } from '../../api/findings.ts'
import {
  DataTable,
  Facet,
  FacetedList,
  FilterBar,
  hrefWith,
  Link,
  LinkButton,
  Page,
  SavedFilters,
  StateViews,
  useFilters,
  useList,
} from '../../ui/index.ts'
import { COLUMNS } from './columns.tsx'

/** `field`: the name in the answer. */
const FACETS = [
  { name: 'asset_type', field: 'asset_type', label: 'Type' },
  { name: 'workspace', field: 'workspace', label: 'Workspace' },
  { name: 'port', field: 'port', label: 'Open port', single: true },
  { name: 'tech', field: 'technology', label: 'Technology' },
  { name: 'status_code', field: 'status_code', label: 'HTTP status' },
  { name: 'source', field: 'source', label: 'Source' },
] as const

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

export const Screen = () => {
  const [filters, set] = useFilters(ASSET_FILTERS)
  const facets = useFacets(filters)
  const { data: workspaces = [] } = useQuery(workspaceNamesQuery)
  return (
    <Page
      title="Assets"
      commands={[{ title: 'List these assets', api: ['GET', hrefWith('/assets', assetQueryOf(filters))] }]}
      actions={
        <LinkButton to={hrefWith('/changes', { kind: 'assets', workspace: filters.workspace, from: '7d' })}>
          What changed
        </LinkButton>
      }
    >
      <StateViews path="/assets" filters={filters} totalOf={assetTotalQuery} />
      <FilterBar
        filters={[
          { name: 'search', label: 'Name, URL or title' },
          { name: 'workspace', label: 'Workspace', suggestions: workspaces },
          { name: 'port', label: 'Open port' },
          { name: 'tech', label: 'Technology' },
          { name: 'host', label: 'Host' },
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
          list={useList(assetsQuery(filters))}
          order={{ value: filters.sort ?? '', onChange: (sort) => set({ sort }) }}
          keyOf={({ id }) => String(id)}
          hrefOf={({ id }) => `/assets/${id}`}
          none={filters.since ? 'Nothing new' : 'No assets'}
          advice={
            Object.keys(filters).length > 0 ? (
              <>
                No asset matches these filters. <Link href="/assets">Show all open assets</Link>
              </>
            ) : (
              <>
                Hosts, ports and URLs that runs find appear here.{' '}
                <Link href="/workflows">Start a workflow</Link>
              </>
            )
          }
        />
      </FacetedList>
    </Page>
  )
}
