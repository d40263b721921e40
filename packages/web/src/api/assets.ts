import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answer, api, byId, dataOf, type Schemas, type SearchOf } from './client.ts'
import { COUNTS, newSince } from './counts.ts'
import { dataQuery, keepBefore, listQuery } from './list.ts'

export type Asset = Schemas['Asset']
type Query = SearchOf<'/assets'>

/** What the URL of the list keeps. `since` is `24h`, `7d` or a time; without a state the list shows open assets. */
export const ASSET_FILTERS = [
  'state',
  'since',
  'search',
  'workspace',
  'asset_type',
  'port',
  'tech',
  'status_code',
  'source',
  'run_id',
  'host',
  'sort',
] as const
export type AssetFilters = Readonly<Partial<Record<(typeof ASSET_FILTERS)[number], string>>>

/** The filters as the API names them, without the order. */
export const assetQueryOf = ({ since, state = 'open', sort: _, ...rest }: AssetFilters): Query => ({
  ...rest,
  state,
  new_since: newSince(since),
})

export const assetsQuery = (filters: AssetFilters) =>
  listQuery(['assets', filters], (cursor) => {
    const sort = filters.sort as Query['sort']
    const query = { ...assetQueryOf(filters), sort, cursor, limit: 100 }
    return api.GET('/assets', { params: { query } })
  })

export const assetTotalQuery = (filters: AssetFilters) => {
  const query = assetQueryOf(filters)
  return queryOptions({
    ...COUNTS,
    queryKey: ['counts', 'assets', 'total', query],
    queryFn: async () =>
      (await answer(api.GET('/assets', { params: { query: { ...query, limit: 1 } } }))).pagination.total,
  })
}

export const assetFacetsQuery = (filters: AssetFilters) => {
  const query = assetQueryOf(filters)
  return {
    ...COUNTS,
    ...dataQuery(['counts', 'assets', 'facets', query], () =>
      api.GET('/assets/facets', { params: { query } }),
    ),
    ...keepBefore,
  }
}

export const assetQuery = (id: string) =>
  dataQuery(['assets', 'one', id], () => api.GET('/assets/{id}', byId(id)))

export const KINDS = ['vulnerabilities', 'assets'] as const
export type Kind = (typeof KINDS)[number]
export const CHANGES = ['new', 'gone', 'changed'] as const
export type Change = (typeof CHANGES)[number]

/** Two times in a workspace, or two runs. */
export type Comparison =
  | { readonly workspace: string; readonly from: string; readonly to?: string }
  | { readonly a: string; readonly b: string }

const CHANGES_PAGE = 200

type Changes = Awaited<ReturnType<typeof readPeriod>>
type Part = { readonly change: Change; readonly after: number }

const readPeriod = (
  kind: Kind,
  { workspace, from, to }: Extract<Comparison, { workspace: string }>,
  part: Part,
) => {
  const times = { from: newSince(from) ?? from, to: newSince(to) }
  const params = { query: { workspace, ...times, limit: CHANGES_PAGE, ...part } }
  return dataOf(
    kind === 'assets' ? api.GET('/assets/diff', { params }) : api.GET('/vulnerabilities/diff', { params }),
  )
}

const readRuns = async (
  kind: Kind,
  { a, b }: Extract<Comparison, { a: string }>,
  part: Part,
): Promise<Omit<Changes, 'workspace' | 'from' | 'to'>> => {
  const params = { path: { id: a, other: b }, query: { limit: CHANGES_PAGE, ...part } }
  return (await dataOf(api.GET('/runs/{id}/diff/{other}', { params })))[kind]
}

/** One list of changes, page by page: each page continues after the last id. */
export const changesQuery = (kind: Kind, comparison: Comparison, change: Change) =>
  infiniteQueryOptions({
    queryKey: ['changes', kind, comparison, change],
    queryFn: ({ pageParam: after }) =>
      'a' in comparison
        ? readRuns(kind, comparison, { change, after })
        : readPeriod(kind, comparison, { change, after }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => {
      const seen = pages.reduce((sum, page) => sum + page[change].length, 0)
      return seen < last[`total_${change}`] ? last[change].at(-1)?.id : undefined
    },
    placeholderData: (before) => before,
  })

/** Not a live key: what concerns the host is in the lists of the page. */
export const hostQuery = (host: string) =>
  dataQuery(['host', host], () => api.GET('/hosts/{host}', { params: { path: { host } } }))

type AssetOfFinding = Pick<Schemas['Vulnerability'], 'asset_type' | 'asset_value'>

/** The name or address in a URL, host:port or [address]:port; '' for places without one. */
export const hostOf = ({ asset_type: type, asset_value: value }: AssetOfFinding): string => {
  // A place in a network is host:port, or a whole network.
  if (['file', 'package'].includes(type) || (type === 'network' && value.includes('/'))) return ''
  const authority = value
    .replace(/^[a-z][a-z\d+.-]*:\/\//i, '')
    .replace(/[/?#].*$/s, '')
    .replace(/^.*@/s, '')
  const [, bracketed] = /^\[([^\]]*)/.exec(authority) ?? []
  const [, named] = /^([^:]*):[^:]*$/.exec(authority) ?? []
  return (bracketed ?? named ?? authority).toLowerCase()
}

export const hostPath = (host: string): string => `/hosts/${encodeURIComponent(host)}`
