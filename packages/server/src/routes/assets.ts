import { AppError, Asset, FINDING_STATES, page, wrapped } from '@scanfarm/contracts'
import type { AssetFilter } from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import { refuse } from '../http/field-refusal.ts'
import { route } from '../http/route.ts'
import { aliased } from './alias.ts'
import { commaList, List, nameList, wordsOf } from './comma-list.ts'
import { orgOf, orgQuery } from './org-filter.ts'
import { pageBody, pageQuery, pageRequest } from './paging.ts'
import { longRowId } from './row-id.ts'

const Length = Type.Optional(
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Bytes; unknown ones are 0' }),
)

const AssetQuery = Type.Object(
  {
    workspace: List('Exact; several separated by commas'),
    search: List('Part of value, URL or title, in upper or lower case'),
    asset_type: List('Several separated by commas'),
    status_code: List('HTTP status; several separated by commas'),
    technology: Type.Optional(Type.String()),
    tech: List('Technologies: has one of several separated by commas'),
    remarks: List('Has one of several separated by commas'),
    content_type: List('Part, in upper or lower case; several separated by commas'),
    location: Type.Optional(
      Type.String({ maxLength: 2048, description: 'Part of value, URL or address, in upper or lower case' }),
    ),
    tls: Type.Optional(Type.String({ description: 'Version of TLS as the tool wrote it, such as tls13' })),
    min_content_length: Length,
    max_content_length: Length,
    port: Type.Optional(Type.String()),
    source: List('Exact; several separated by commas'),
    state: List('open or gone'),
    run_id: Type.Optional(Type.String({ description: 'run_uuid of the run that saw it last' })),
    run_uuid: Type.Optional(Type.String({ description: 'Other name of run_id' })),
    ...orgQuery,
    ...pageQuery,
  },
  { additionalProperties: false },
)

const statusCodes = (text: string | undefined): number[] | undefined => {
  const codes = commaList(text)
  if (codes?.some((code) => !/^\d{1,3}$/.test(code)))
    refuse([{ path: '/status_code', message: 'must be HTTP statuses, such as 200,301' }])
  return codes?.map(Number)
}

/** Types of assets are lower case, but nothing forbids others. */
const lowerToo = (names: string[] | undefined): string[] | undefined =>
  names && [...new Set(names.flatMap((name) => [name, name.toLowerCase()]))]

const assetFilter = (query: Static<typeof AssetQuery>): AssetFilter => {
  const states = wordsOf('state', query.state, FINDING_STATES)
  const [state] = states?.length === 1 ? states : []
  return {
    workspaces: nameList(query.workspace),
    assetTypes: lowerToo(nameList(query.asset_type)),
    statusCodes: statusCodes(query.status_code),
    technology: query.technology,
    port: query.port,
    technologies: nameList(query.tech),
    remarks: nameList(query.remarks),
    contentTypes: commaList(query.content_type),
    location: query.location,
    tls: query.tls,
    minContentLength: query.min_content_length,
    maxContentLength: query.max_content_length,
    sources: nameList(query.source),
    state,
    search: query.search,
    runUuid: aliased(query, 'run_id', 'run_uuid'),
  }
}

export const listAssets = route(
  {
    method: 'get',
    path: '/assets',
    tag: 'Findings',
    summary: 'List assets, newest first',
    role: 'viewer',
    query: AssetQuery,
    responses: { 200: page(Asset) },
    errors: ['invalid_input'],
  },
  async ({ store }, { query }) => {
    const request = pageRequest(query)
    const filter = { ...assetFilter(query), org: await orgOf(store, query.org) }
    return pageBody(await store.assets.list(filter, request), request)
  },
)

export const getAsset = route(
  {
    method: 'get',
    path: '/assets/{id}',
    tag: 'Findings',
    summary: 'Read one asset',
    role: 'viewer',
    params: Type.Object({ id: Type.String() }),
    responses: { 200: wrapped(Asset) },
    errors: ['not_found'],
  },
  async ({ store }, { params }) => {
    const id = longRowId(params.id)
    const data = id === undefined ? undefined : await store.assets.find(id)
    if (data === undefined) throw new AppError('not_found', `there is no asset ${JSON.stringify(params.id)}`)
    return { data }
  },
)

const Words = Type.Array(Type.String())

export const assetStats = route(
  {
    method: 'get',
    path: '/asset-stats',
    tag: 'Findings',
    summary: 'List the technologies, sources, remarks and types that occur among assets',
    role: 'viewer',
    query: Type.Object(
      { workspace: List('Exact; several separated by commas') },
      { additionalProperties: false },
    ),
    responses: {
      200: wrapped(Type.Object({ technologies: Words, sources: Words, remarks: Words, asset_types: Words })),
    },
  },
  async ({ store }, { query }) => ({ data: await store.assets.stats(nameList(query.workspace)) }),
)
