import { hashKey, queryOptions, type QueryClient } from '@tanstack/react-query'
import { answer, api, byId, dataOf, type BodyOf, type Schemas, type SearchOf } from './client.ts'
import { COUNTS, newSince } from './counts.ts'
import { answerQuery, dataQuery, keepBefore, listQuery } from './list.ts'

export type Finding = Schemas['Vulnerability']
type Query = SearchOf<'/vulnerabilities'>
type BulkBody = BodyOf<'/vulnerabilities/bulk', 'post'>
export type FindingChange = BulkBody['change']

export const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info'] as const
export const EXPORT_FORMATS = ['sarif', 'csv', 'jsonl', 'defectdojo', 'openvex'] as const

/** What the URL of the list keeps. `since` is `24h`, `7d` or a time; without a state the list shows open findings. */
export const FINDING_FILTERS = [
  'state',
  'seen',
  'verdict',
  'back',
  'kev',
  'min_epss',
  'assignee',
  'since',
  'severity',
  'confidence',
  'workspace',
  'asset_type',
  'source',
  'search',
  'asset_value',
  'tag',
  'run_id',
  'check',
  'host',
  'sort',
] as const
export type FindingFilters = Readonly<Partial<Record<(typeof FINDING_FILTERS)[number], string>>>

/** The filters as the API names them, without the order. */
export const findingQueryOf = ({
  since,
  state = 'open',
  back,
  kev,
  min_epss,
  sort: _,
  ...rest
}: FindingFilters): Query => ({
  ...rest,
  ...(back === undefined ? {} : { back: back === 'true' }),
  ...(kev === undefined ? {} : { kev: kev === 'true' }),
  ...(min_epss === undefined ? {} : { min_epss: Number(min_epss) }),
  state,
  new_since: newSince(since),
})

/** The order that a list has until the user chooses another. */
export const FIRST_SORT = 'severity'

export const findingsQuery = (filters: FindingFilters) =>
  listQuery(['findings', filters], (cursor) => {
    const sort = (filters.sort ?? FIRST_SORT) as Query['sort']
    const query = { ...findingQueryOf(filters), sort, cursor, limit: 100 }
    return api.GET('/vulnerabilities', { params: { query } })
  })

export const GROUP_BY = ['check', 'host'] as const
export type GroupBy = (typeof GROUP_BY)[number]

export const findingGroupsQuery = (filters: FindingFilters, by: GroupBy, sort: string) => {
  const query = { ...findingQueryOf(filters), by, sort: sort as SearchOf<'/vulnerabilities/groups'>['sort'] }
  const read = () => api.GET('/vulnerabilities/groups', { params: { query } })
  return { ...dataQuery(['findings', 'groups', query], read), ...keepBefore }
}

export const findingTotalQuery = (filters: FindingFilters) => {
  const query = findingQueryOf(filters)
  const params = { query: { ...query, limit: 1 } }
  return queryOptions({
    ...COUNTS,
    queryKey: ['counts', 'findings', 'total', query],
    queryFn: async () => (await answer(api.GET('/vulnerabilities', { params }))).pagination.total,
  })
}

const FACETS_KEY = ['counts', 'findings', 'facets'] as const
type Facets = Awaited<ReturnType<typeof readFacets>>

const readFacets = (query: Query, names: readonly string[]) =>
  dataOf(api.GET('/vulnerabilities/facets', { params: { query: { ...query, only: names.join(',') } } }))

/**
 * `names`: the facets to count. Until they are, those of the same filter that were counted together with others are shown,
 * or else those of another filter.
 */
export const findingFacetsQuery = (
  client: QueryClient,
  filters: FindingFilters,
  names: readonly string[],
) => {
  const query = findingQueryOf(filters)
  const known = () => {
    const all = client.getQueriesData<Facets>({ queryKey: FACETS_KEY }).filter(([key, data]) => {
      const counted = key.at(-1)
      return data !== undefined && Array.isArray(counted) && names.every((name) => counted.includes(name))
    })
    const same = all.find(([key]) => hashKey([key.at(-2)]) === hashKey([query]))
    return (same ?? all.at(-1))?.[1]
  }
  return queryOptions({
    ...COUNTS,
    queryKey: [...FACETS_KEY, query, names],
    queryFn: () => readFacets(query, names),
    placeholderData: known,
  })
}

export const findingQuery = (id: string) =>
  dataQuery(['finding', id], () => api.GET('/vulnerabilities/{id}', byId(id)))

/** What a bulk change concerns: findings by id, or all that match. */
export type Scope =
  { readonly ids: readonly number[] } | { readonly filters: FindingFilters; readonly total: number }

export interface BulkProgress {
  /** How many findings were looked at. */
  readonly done: number
  readonly changed: number
  readonly unchanged: number
  readonly failed: readonly { readonly id: number; readonly outcome: string }[]
}

const IDS_AT_ONCE = 1_000
/** Failures that the page keeps; more are only counted. */
const MOST_FAILED = 1_000

/** Changes in steps of 1,000 findings, and reports after each. Stops between two steps when `signal` is aborted. */
export const changeFindings = async (
  scope: Scope,
  change: FindingChange,
  report: (progress: BulkProgress) => void,
  signal: AbortSignal,
): Promise<BulkProgress> => {
  let progress: BulkProgress = { done: 0, changed: 0, unchanged: 0, failed: [] }
  const step = async (part: Omit<BulkBody, 'change'>): Promise<string | undefined> => {
    const { data, changed, next_cursor } = await answer(
      api.POST('/vulnerabilities/bulk', { body: { ...part, change } }),
    )
    const failed = data.filter(({ outcome }) => outcome === 'not_found' || outcome === 'too_many_tags')
    progress = {
      done: progress.done + data.length,
      changed: progress.changed + changed,
      unchanged: progress.unchanged + data.length - changed - failed.length,
      failed: [...progress.failed, ...failed].slice(0, MOST_FAILED),
    }
    report(progress)
    return next_cursor
  }
  if ('ids' in scope) {
    for (let at = 0; at < scope.ids.length && !signal.aborted; at += IDS_AT_ONCE)
      await step({ ids: scope.ids.slice(at, at + IDS_AT_ONCE) })
    return progress
  }
  const { limit: _, offset: _o, cursor: _c, ...filter } = findingQueryOf(scope.filters)
  for (let cursor: string | undefined; ;) {
    cursor = await step({ filter, ...(cursor === undefined ? {} : { cursor }) })
    if (cursor === undefined || signal.aborted) return progress
  }
}

/** The file is the body as it is. The types know only text. */
const fileBody = (file: File) => ({
  body: '',
  bodySerializer: () => file,
  headers: { 'Content-Type': 'application/octet-stream' },
  timeoutMs: Infinity,
})

export type ImportFormat = NonNullable<SearchOf<'/vulnerabilities/import', 'post'>['format']>

interface Import {
  readonly file: File
  readonly workspace: string
  /** Without one the server recognises it. */
  readonly format: ImportFormat | undefined
}

export const importFindings = ({ file, ...query }: Import) =>
  answer(api.POST('/vulnerabilities/import', { params: { query }, ...fileBody(file) }))

export const enrichmentsQuery = dataQuery(['enrichments'], () => api.GET('/enrichments'))

/** The server recognises the kind of the file. */
export const loadEnrichment = (file: File) => answer(api.POST('/enrichments', fileBody(file)))

export const workspaceNamesQuery = answerQuery(['workspace-names'], () => api.GET('/workspace-names'))
