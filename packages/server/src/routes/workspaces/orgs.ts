import { AppError, closed, FINDING_LIMITS, Org, OrgStats, wrapped } from '@scanfarm/contracts'
import { DEFAULT_ORG, MAX_ORGS, type Store } from '@scanfarm/store'
import { Type } from 'typebox'
import { missing, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { newSinceOf } from '../query.ts'

const MAX_ASSIGNED = 10_000

const OrgPath = Type.Object({ org: Type.String({ description: 'uuid or name' }) })
const fields = {
  name: Type.String({ minLength: 1, maxLength: 128, pattern: '^\\S(.*\\S)?$' }),
  description: Type.String({ maxLength: 4096 }),
  tags: Type.Array(Type.String({ maxLength: 256 }), { maxItems: 100 }),
}

const noOrg = (ref: string): AppError => missing('organisation', ref, '; see GET /orgs')

const find = async ({ orgs }: Pick<Store, 'orgs'>, ref: string): Promise<Org> => {
  const org = await orgs.find(ref)
  if (org === undefined) throw noOrg(ref)
  return org
}

const TAKEN = [{ path: '/name', message: 'another organisation has this name or uuid' }]

export const listOrgs = route(
  {
    endpoint: 'GET /orgs',
    summary: 'List the organisations with counts of their records',
    description: `An organisation is a named set of workspaces; there are at most ${MAX_ORGS}. The default one has all workspaces without another organisation. Counts above 10,000 may be a few seconds old; the first 100 workspaces of each are listed.`,
    role: 'viewer',
    responses: {
      200: Type.Object({
        data: Type.Array(Type.Object({ ...Org.properties, stats: OrgStats })),
        total: Type.Integer({ minimum: 0 }),
      }),
    },
  },
  async ({ store }) => {
    const data = (await store.orgs.list()).map(({ org, stats }) => ({ ...org, stats }))
    return { data, total: data.length }
  },
)

export const createOrg = route(
  {
    endpoint: 'POST /orgs',
    summary: 'Create an organisation',
    role: 'admin',
    body: closed({
      name: fields.name,
      uuid: Type.Optional(Type.Union([Type.String({ format: 'uuid' }), Type.Literal('')])),
      description: Type.Optional(fields.description),
      tags: Type.Optional(fields.tags),
    }),
    responses: { 201: wrapped(Org) },
    errors: ['conflict'],
  },
  async ({ store }, { body: { name, uuid, description = '', tags = [] } }) => {
    const data = await store.orgs.create({ name, description, tags, ...(uuid ? { uuid } : {}) })
    if (data === 'full')
      throw new AppError('conflict', `there are already ${MAX_ORGS} organisations: delete one first`)
    if (data === 'taken') throw new AppError('invalid_input', 'name: is taken', { details: TAKEN })
    return { data }
  },
)

export const getOrg = route(
  {
    endpoint: 'GET /orgs/{org}',
    summary: 'Read one organisation',
    role: 'viewer',
    params: OrgPath,
    responses: { 200: wrapped(Org) },
  },
  async ({ store }, { params }) => ({ data: await find(store, params.org) }),
)

export const getOrgStats = route(
  {
    endpoint: 'GET /orgs/{org}/stats',
    summary: 'Count the records of an organisation',
    description: 'The first 10,000 workspaces are listed.',
    role: 'viewer',
    params: OrgPath,
    responses: { 200: wrapped(OrgStats) },
  },
  async ({ store }, { params }) => ({ data: await store.orgs.stats(await find(store, params.org)) }),
)

export const changeOrg = route(
  {
    endpoint: 'PUT /orgs/{org}',
    summary: 'Change an organisation, or assign workspaces to it',
    description:
      'Missing and empty fields are not changed. `workspaces` are moved from their current organisations; assigning them to the default one removes them from theirs.',
    role: 'admin',
    params: OrgPath,
    body: closed({
      name: Type.Optional(Type.Union([fields.name, Type.Literal('')])),
      description: Type.Optional(fields.description),
      tags: Type.Optional(fields.tags),
      workspaces: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: FINDING_LIMITS.workspace }), {
          maxItems: MAX_ASSIGNED,
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        data: Org,
        assigned: Type.Optional(
          Type.Object({
            workspaces: Type.Integer({ description: 'Number of workspaces whose organisation changed' }),
          }),
        ),
      }),
    },
    errors: ['forbidden'],
  },
  async ({ store }, { params, body: { name, description, tags, workspaces = [] } }) => {
    const org = await find(store, params.org)
    const renamed = name !== undefined && name !== '' && name !== org.name
    if (renamed && org.is_default)
      throw new AppError('forbidden', 'the default organisation cannot be renamed')
    const change = {
      ...(renamed ? { name } : {}),
      ...(description ? { description } : {}),
      ...(tags === undefined ? {} : { tags }),
    }
    const data = Object.keys(change).length === 0 ? org : await store.orgs.change(org.uuid, change)
    if (data === 'taken') refuse(TAKEN)
    if (data === undefined || data === 'taken') throw noOrg(params.org)
    if (workspaces.length === 0) return { data }
    return { data, assigned: { workspaces: await store.orgs.assign(org.uuid, workspaces) } }
  },
)

export const removeOrg = route(
  {
    endpoint: 'DELETE /orgs/{org}',
    summary: 'Delete an organisation',
    description: 'Its workspaces move to the default organisation; their records are kept.',
    role: 'admin',
    params: OrgPath,
    query: closed({
      purge: Type.Optional(
        Type.Boolean({ description: 'Only false: an organisation is deleted without its records' }),
      ),
    }),
    responses: {
      200: Type.Object({
        message: Type.String(),
        uuid: Type.String(),
        name: Type.String(),
        purged: Type.Literal(false),
      }),
    },
    errors: ['forbidden'],
  },
  async ({ store }, { params, query }) => {
    if (query.purge === true)
      refuse([
        {
          path: '/purge',
          message: 'is not supported: retention deletes runs, assets and vulnerabilities',
        },
      ])
    const { uuid, name } = await find(store, params.org)
    if (uuid === DEFAULT_ORG) throw new AppError('forbidden', 'the default organisation cannot be deleted')
    if (!(await store.orgs.remove(uuid))) throw noOrg(params.org)
    return { message: 'Organisation deleted', uuid, name, purged: false as const }
  },
)

/** Query parameter of lists that can be filtered by organisation. */
export const orgQuery = {
  org: Type.Optional(
    Type.String({ maxLength: 256, description: 'uuid or name of the organisation that has the workspace' }),
  ),
}

/** The uuid of the organisation. Existing clients send an empty text for no filter. */
export const orgOf = async (
  { orgs }: Pick<Store, 'orgs'>,
  ref: string | undefined,
): Promise<string | undefined> => {
  if (ref === undefined || ref.trim() === '') return undefined
  const org = await orgs.find(ref.trim())
  if (org === undefined)
    refuse([{ path: '/org', message: `there is no organisation ${JSON.stringify(ref)}; see GET /orgs` }])
  return org?.uuid
}

/** Parts of a filter that are names of stored things. */
export const lookUp = async (
  store: Pick<Store, 'jobs' | 'orgs'>,
  { new_since: since, org }: { readonly new_since?: string; readonly org?: string },
) => ({ new_since: await newSinceOf(store, since), org: await orgOf(store, org) })
