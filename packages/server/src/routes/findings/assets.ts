import { Asset, AssetStats, closed, FINDING_STATES, page, picked, wrapped } from '@scanfarm/contracts'
import { ASSET_FACETS, ASSET_SORTS, FACET_RECORDS, type AssetFilter, type Store } from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import { found, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { pageQuery } from '../../http/paging.ts'
import {
  aliased,
  commaList,
  Host,
  List,
  longRowId,
  nameList,
  NewSince,
  Sort,
  stateOf,
  WordList,
} from '../query.ts'
import { lookUp, orgQuery } from '../workspaces/orgs.ts'
import { facetsBody, facetsOf } from './facets.ts'
import { SeenRuns } from './vulnerabilities.ts'

const Length = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Bytes; assets of unknown size have 0',
  }),
)

const filterQuery = {
  workspace: List('Exact names, separated by commas'),
  search: List('Substring of value, URL or title, ignoring case'),
  asset_type: List('Exact types, separated by commas'),
  status_code: List('HTTP statuses, separated by commas'),
  technology: Type.Optional(Type.String()),
  tech: List('Has one of these technologies, separated by commas'),
  remarks: List('Has one of these remarks, separated by commas'),
  content_type: List('Substrings, ignoring case, separated by commas'),
  location: Type.Optional(
    Type.String({ maxLength: 2048, description: 'Substring of value, URL or address, ignoring case' }),
  ),
  tls: Type.Optional(Type.String({ description: 'TLS version as the tool reported it, for example tls13' })),
  min_content_length: Length,
  max_content_length: Length,
  port: Type.Optional(Type.String()),
  host: Host,
  source: List('Exact names, separated by commas'),
  state: WordList(FINDING_STATES, 'One or more, separated by commas'),
  new_since: NewSince,
  run_id: Type.Optional(Type.String({ description: 'run_uuid of the run that last saw it' })),
  run_uuid: Type.Optional(Type.String({ description: 'Alias of run_id' })),
  ...orgQuery,
}
const FilterQuery = closed(filterQuery)

const statusCodes = (text: string | undefined): number[] | undefined => {
  const codes = commaList(text)
  if (codes?.some((code) => !/^\d{1,3}$/.test(code)))
    refuse([{ path: '/status_code', message: 'must be HTTP statuses, for example 200,301' }])
  return codes?.map(Number)
}

/** Asset types are lower case by convention only. */
const lowerToo = (names: string[] | undefined): string[] | undefined =>
  names && [...new Set(names.flatMap((name) => [name, name.toLowerCase()]))]

const assetFilter = async (
  store: Pick<Store, 'jobs' | 'orgs'>,
  query: Static<typeof FilterQuery>,
): Promise<AssetFilter> => {
  return {
    ...picked(query, ['technology', 'port', 'host', 'location', 'tls', 'search']),
    ...picked(query, ['min_content_length', 'max_content_length']),
    workspace: nameList(query.workspace),
    asset_type: lowerToo(nameList(query.asset_type)),
    status_code: statusCodes(query.status_code),
    tech: nameList(query.tech),
    remarks: nameList(query.remarks),
    content_type: commaList(query.content_type),
    source: nameList(query.source),
    state: stateOf(query.state),
    run_id: aliased(query, 'run_id', 'run_uuid'),
    ...(await lookUp(store, query)),
  }
}

export const listAssets = route(
  {
    endpoint: 'GET /assets',
    summary: 'List assets, newest first or sorted',
    role: 'viewer',
    query: closed({ ...filterQuery, ...pageQuery, sort: Sort(ASSET_SORTS) }),
    responses: { 200: page(Asset) },
  },
  async ({ store }, { query, page: request }) =>
    store.assets.list(await assetFilter(store, query), { ...request, sort: query.sort }),
)

export const getAsset = route(
  {
    endpoint: 'GET /assets/{id}',
    summary: 'Read one asset',
    description: 'With the runs that saw it, as far as sightings are kept.',
    role: 'viewer',
    responses: { 200: wrapped(Type.Object({ ...Asset.properties, runs: SeenRuns })) },
  },
  async ({ store }, { params }) => {
    const id = longRowId(params.id)
    const data = found('asset', params.id, await store.assets.find(id))
    return { data: { ...data, runs: await store.triage.seenBy('asset', id) } }
  },
)

export const countAssetFacets = route(
  {
    endpoint: 'GET /assets/facets',
    summary: 'Count the assets of a filter by type, port, technology and other fields',
    description: `Takes the filters of GET /assets. Counts the newest ${FACET_RECORDS} records that match; \`complete\` is false if there are more. Large counts may be some seconds old.`,
    role: 'viewer',
    query: FilterQuery,
    responses: { 200: facetsOf(ASSET_FACETS) },
  },
  async ({ store }, { query }) => {
    const filter = await assetFilter(store, query)
    return { data: facetsBody(await store.assets.facets(filter)) }
  },
)

export const assetStats = route(
  {
    endpoint: 'GET /asset-stats',
    summary: 'List the technologies, sources, remarks and types of assets',
    role: 'viewer',
    query: closed({ workspace: List('Exact names, separated by commas') }),
    responses: { 200: wrapped(AssetStats) },
  },
  async ({ store }, { query }) => ({ data: await store.assets.stats(nameList(query.workspace)) }),
)
