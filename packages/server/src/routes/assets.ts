import { AppError, Asset, FINDING_STATES, page, wrapped } from '@scanfarm/contracts'
import type { AssetFilter } from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import { refuse } from '../http/field-refusal.ts'
import { route } from '../http/route.ts'
import { aliased } from './alias.ts'
import { commaList, MAX_LIST_LENGTH, nameList, wordsOf } from './comma-list.ts'
import { pageBody, pageQuery, pageRequest } from './paging.ts'
import { longRowId } from './row-id.ts'

const List = (description: string) => Type.Optional(Type.String({ maxLength: MAX_LIST_LENGTH, description }))

const AssetQuery = Type.Object(
  {
    workspace: List('Exact; several separated by commas'),
    search: List('Part of value, URL or title, in upper or lower case'),
    asset_type: List('Exact; several separated by commas'),
    status_code: List('HTTP status; several separated by commas'),
    technology: Type.Optional(Type.String()),
    port: Type.Optional(Type.String()),
    source: Type.Optional(Type.String()),
    state: List('open or gone'),
    run_id: Type.Optional(Type.String({ description: 'run_uuid of the run that saw it last' })),
    run_uuid: Type.Optional(Type.String({ description: 'Other name of run_id' })),
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

const assetFilter = (query: Static<typeof AssetQuery>): AssetFilter => {
  const states = wordsOf('state', query.state, FINDING_STATES)
  const [state] = states?.length === 1 ? states : []
  return {
    workspaces: nameList(query.workspace),
    assetTypes: nameList(query.asset_type),
    statusCodes: statusCodes(query.status_code),
    technology: query.technology,
    port: query.port,
    source: query.source,
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
    return pageBody(await store.assets.list(assetFilter(query), request), request)
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
