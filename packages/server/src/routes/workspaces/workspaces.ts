import { closed, page, Workspace, WORKSPACE_SOURCES } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { orgOf, orgQuery } from './orgs.ts'
import { MAX_LIMIT, pageQuery } from '../../http/paging.ts'

const sourceOf = (text: string | undefined): (typeof WORKSPACE_SOURCES)[number] | undefined => {
  const word = text?.trim().toLowerCase() ?? ''
  if (word === '' || word === 'all') return undefined
  const source = WORKSPACE_SOURCES.find((one) => one === word)
  if (source === undefined)
    refuse([{ path: '/data_source', message: `must be one of ${WORKSPACE_SOURCES.join(', ')}, all` }])
  return source
}

export const listWorkspaces = route(
  {
    endpoint: 'GET /workspaces',
    summary: 'List the workspaces by name, with counts of their records',
    description:
      'A workspace is a name used by runs, assets, vulnerabilities or an organisation. Records that are gone are counted too.',
    role: 'viewer',
    query: closed({
      search: Type.Optional(
        Type.String({ maxLength: 2048, description: 'Substring of the name, ignoring case' }),
      ),
      data_source: Type.Optional(
        Type.String({ description: `One of ${WORKSPACE_SOURCES.join(', ')}, or all` }),
      ),
      filesystem: Type.Optional(
        Type.Boolean({ description: 'For existing clients: has no effect; `mode` is always `database`' }),
      ),
      ...orgQuery,
      ...pageQuery,
    }),
    responses: { 200: Type.Object({ ...page(Workspace).properties, mode: Type.Literal('database') }) },
  },
  async ({ store }, { query, page: request }) => {
    const org = await orgOf(store, query.org)
    const filter = { search: query.search, source: sourceOf(query.data_source), org }
    return { ...(await store.workspaces.list(filter, request)), mode: 'database' as const }
  },
)

export const listWorkspaceNames = route(
  {
    endpoint: 'GET /workspace-names',
    summary: `List the names of the workspaces, at most ${MAX_LIMIT}, as a plain array`,
    role: 'viewer',
    responses: { 200: Type.Array(Type.String()) },
  },
  ({ store }) => store.workspaces.names(MAX_LIMIT),
)
