import type { Workspace } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { decodeCursor, encodeCursor, type PageOf, type PageRequest } from '../page.ts'
import { canBeStored } from '../text.ts'
import type { Totals } from '../totals.ts'
import { DEFAULT_ORG, namesThat, sourceOf, type WorkspaceFilter } from './names.ts'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

/** A workspace is a name in runs, assets, vulnerabilities or organisations. Its id is a hash of the name, for clients that need a number. */
export const makeWorkspaces = (db: Kysely<Tables>, totals: Totals) => ({
  /** By name. A cursor is the number of names before it: names are sorted and rarely change. */
  async list(filter: WorkspaceFilter, page: PageRequest): Promise<PageOf<Workspace>> {
    const offset = page.cursor === undefined ? page.offset : decodeCursor(page.cursor)
    const [total, names] = await Promise.all([
      countOf(db, totals, filter),
      namesOf(db, filter, { offset, limit: page.limit }),
    ])
    return {
      data: names.length === 0 ? [] : await countsOf(db, names),
      total,
      nextCursor: names.length === page.limit ? encodeCursor(offset + names.length) : undefined,
      truncated: false,
    }
  },
  names: (limit: number): Promise<string[]> => namesOf(db, {}, { offset: 0, limit }),
  count: (): Promise<number> => countOf(db, totals, {}),
  async exists(name: string): Promise<boolean> {
    if (!canBeStored(name)) return false
    return await firstValue(db, false)`
      select exists (select from runs where workspace = ${name}) or exists (select from assets where workspace = ${name})
          or exists (select from vulnerabilities where workspace = ${name}) as known
    `
  },
})

const countOf = (db: Kysely<Tables>, totals: Totals, filter: WorkspaceFilter): Promise<number> =>
  totals.of(`workspaces ${JSON.stringify(Object.entries(filter).sort())}`, async () => {
    const { names, conditions } = namesThat(filter)
    return await firstValue(db, 0)`
      with ${names} select count(*) as total from found ${conditions}
    `
  })

const namesOf = async (
  db: Kysely<Tables>,
  filter: WorkspaceFilter,
  { offset, limit }: Pick<PageRequest, 'offset' | 'limit'>,
): Promise<string[]> => {
  const { names, conditions } = namesThat(filter)
  const { rows } = await sql<{ name: string }>`
    with ${names} select name from found ${conditions} order by name limit ${limit} offset ${offset}
  `.execute(db)
  return rows.map(({ name }) => name)
}

type Row = Omit<Workspace, 'local_path' | 'total_vulns' | 'risk_score' | 'tags'>

/** By the worst open finding, the worst first. */
const RISKS = { vuln_critical: 10, vuln_high: 7.5, vuln_medium: 5, vuln_low: 2.5, vuln_potential: 0 } as const
const SEVERITIES = Object.keys(RISKS) as (keyof typeof RISKS)[]

const toWorkspace = (row: Row): Workspace => ({
  ...row,
  local_path: '',
  total_vulns: SEVERITIES.reduce((sum, severity) => sum + row[severity], 0),
  risk_score: RISKS[SEVERITIES.find((severity) => row[severity] > 0) ?? 'vuln_potential'],
  tags: [],
})

/**
 * Postgres counts from the indexes that begin with the workspace. The counts only contain these workspaces, so a full join
 * equals a left join, but is never planned as a nested loop, which outdated statistics could cause.
 */
const countsOf = async (db: Kysely<Tables>, names: readonly string[]): Promise<Workspace[]> => {
  const { rows } = await sql<Row>`
    with found as materialized (select unnest(${names}::text[]) collate "C" as name), run_counts as (
      select workspace, count(*) - (
               select count(*) from runs b where b.batch is not null and b.workspace = runs.workspace) as runs, max(id) as newest, min(id) as oldest from runs
      where workspace = any(${names}) group by workspace
    ), asset_counts as (
      select workspace, count(*) as assets,
             count(*) filter (where asset_type = 'subdomain') as subdomain,
             count(*) filter (where asset_type in ('url', 'http', 'web')) as url,
             count(*) filter (where asset_type = 'ip') as ip,
             count(*) filter (where asset_type = 'link') as link,
             count(*) filter (where asset_type = 'content') as content,
             count(*) filter (where asset_type = 'archive') as archive
      from assets where workspace = any(${names}) group by workspace
    ), vulnerability_counts as (
      select workspace, count(*) filter (where severity = 'critical') as critical,
             count(*) filter (where severity = 'high') as high, count(*) filter (where severity = 'medium') as medium,
             count(*) filter (where severity = 'low') as low, count(*) filter (where severity = 'info') as info
      from vulnerabilities where workspace = any(${names}) and state = 'open' group by workspace
    ), assigned as (
      select workspace, org from org_workspaces where workspace = any(${names})
    )
    select found.name, hashtextextended(found.name, 0) & ${MAX_ID}::bigint as id,
           coalesce(o.org, ${DEFAULT_ORG}::uuid) as org_uuid, ${sourceOf(sql`newest.run_mode`)} as data_source,
           coalesce(c.runs, 0) as total_runs, coalesce(a.assets, 0) as total_assets,
           coalesce(a.subdomain, 0) as total_subdomains, coalesce(a.url, 0) as total_urls,
           coalesce(a.ip, 0) as total_ips, coalesce(a.link, 0) as total_links,
           coalesce(a.content, 0) as total_content, coalesce(a.archive, 0) as total_archive,
           coalesce(v.critical, 0) as vuln_critical, coalesce(v.high, 0) as vuln_high,
           coalesce(v.medium, 0) as vuln_medium, coalesce(v.low, 0) as vuln_low,
           coalesce(v.info, 0) as vuln_potential,
           coalesce(newest.started_at, newest.created_at) as last_run,
           coalesce(newest.workflow_name, '') as run_workflow, oldest.created_at, newest.updated_at
    from found
    full join assigned o on o.workspace = found.name
    full join run_counts c on c.workspace = found.name
    full join asset_counts a on a.workspace = found.name
    full join vulnerability_counts v on v.workspace = found.name
    left join runs newest on newest.id = c.newest
    left join runs oldest on oldest.id = c.oldest
    order by found.name
  `.execute(db)
  return rows.map(toWorkspace)
}

/** JavaScript numbers are exact up to this. */
const MAX_ID = 2 ** 52 - 1
