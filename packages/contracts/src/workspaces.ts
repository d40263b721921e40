import { Type, type Static } from 'typebox'
import { NullableTimestamp, Timestamp } from './resources.ts'
import { Count, count, flag, named, nullable, text } from './objects.ts'

/** `imported`: the workspace has no runs. */
export const WORKSPACE_SOURCES = ['local', 'cloud', 'imported'] as const
export const WorkspaceSource = Type.Enum([...WORKSPACE_SOURCES])
export type WorkspaceSource = Static<typeof WorkspaceSource>

export const Workspace = named('Workspace', {
  id: Type.Integer({ description: 'A number derived from the name' }),
  name: Type.String(),
  org_uuid: Type.String({ format: 'uuid' }),
  local_path: text('Always "": files are kept as artifacts'),
  data_source: WorkspaceSource,
  total_runs: Count,
  total_assets: Count,
  total_subdomains: count('Assets of the type subdomain'),
  total_urls: count('Assets of the types url, http and web'),
  total_ips: Count,
  total_links: Count,
  total_content: Count,
  total_archive: Count,
  total_vulns: Count,
  vuln_critical: Count,
  vuln_high: Count,
  vuln_medium: Count,
  vuln_low: Count,
  vuln_potential: count('Findings of severity info'),
  risk_score: Type.Number({
    description: 'By the worst severity: critical 10, high 7.5, medium 5, low 2.5, none 0',
  }),
  tags: Type.Array(Type.String()),
  last_run: nullable(Timestamp, 'Start of the newest run'),
  run_workflow: text('Workflow of the newest run, or ""'),
  created_at: NullableTimestamp,
  updated_at: NullableTimestamp,
})
export type Workspace = Static<typeof Workspace>

export const Org = named('Org', {
  uuid: Type.String({ format: 'uuid' }),
  name: Type.String(),
  description: Type.String(),
  tags: Type.Array(Type.String()),
  is_default: flag('It has all workspaces that belong to no other'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Org = Static<typeof Org>

export const OrgStats = named('OrgStats', {
  org_uuid: Type.String({ format: 'uuid' }),
  org_name: Type.String(),
  total_workspaces: Count,
  total_assets: Count,
  total_vulns: Count,
  total_runs: Count,
  workspaces: Type.Array(Type.String(), { description: 'The first of their names' }),
})
export type OrgStats = Static<typeof OrgStats>
