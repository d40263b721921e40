import { closed, page, Workspace, WORKSPACE_SOURCES } from '@scanfarm/contracts'
import type { WorkspaceCounts } from '@scanfarm/store'
import { Type } from 'typebox'
import { refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { orgOf, orgQuery } from './orgs.ts'
import { MAX_LIMIT, pageBody, pageQuery, pageRequest } from '../paging.ts'

const RISKS = { critical: 10, high: 7.5, medium: 5, low: 2.5, info: 0 } as const

const shown = (counts: WorkspaceCounts): Workspace => {
  const { bySeverity, byType } = counts
  const { critical, high, medium, low, info } = bySeverity
  const worst = (['critical', 'high', 'medium', 'low'] as const).find((severity) => bySeverity[severity] > 0)
  return {
    id: counts.id,
    name: counts.name,
    org_uuid: counts.org,
    local_path: '',
    data_source: counts.source,
    total_runs: counts.runs,
    total_assets: counts.assets,
    total_subdomains: byType['subdomain'] ?? 0,
    total_urls: byType['url'] ?? 0,
    total_ips: byType['ip'] ?? 0,
    total_links: byType['link'] ?? 0,
    total_content: byType['content'] ?? 0,
    total_archive: byType['archive'] ?? 0,
    total_vulns: critical + high + medium + low + info,
    vuln_critical: critical,
    vuln_high: high,
    vuln_medium: medium,
    vuln_low: low,
    vuln_potential: info,
    risk_score: RISKS[worst ?? 'info'],
    tags: [],
    last_run: counts.lastRun,
    run_workflow: counts.workflow,
    created_at: counts.createdAt,
    updated_at: counts.updatedAt,
  }
}

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
  async ({ store }, { query }) => {
    const request = pageRequest(query)
    const org = await orgOf(store, query.org)
    const filter = { search: query.search, source: sourceOf(query.data_source), org }
    const { data, ...rest } = await store.workspaces.list(filter, request)
    return { ...pageBody({ ...rest, data: data.map(shown) }, request), mode: 'database' as const }
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
