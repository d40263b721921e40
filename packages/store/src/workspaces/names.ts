import type { WorkspaceSource } from '@scanfarm/contracts'
import { sql, type RawBuilder } from 'kysely'
import { contains, where } from '../findings/condition.ts'

/** The organisation of every workspace that is not assigned to another one. It cannot be renamed or deleted. */
export const DEFAULT_ORG = '00000000-0000-0000-0000-000000000001'

export interface WorkspaceFilter {
  /** Part of the name, case-insensitive. */
  readonly search?: string
  /** uuid of an organisation. */
  readonly org?: string
  readonly source?: WorkspaceSource
}

const TABLES = ['runs', 'assets', 'vulnerabilities', 'org_workspaces']

/**
 * Distinct names in order. Each table has an index that begins with the workspace. Postgres merges these indexes, so that
 * a page with a limit reads no further.
 */
const NAMES = sql`select distinct workspace from (${sql.join(
  TABLES.map((table) => sql`select workspace from ${sql.table(table)}`),
  sql` union all `,
)}) w order by workspace`

/**
 * Condition on a column with the name of a workspace. `not in` would read all assigned names for each row when they are
 * too many for its hash table. `assigned` renames the column, so that it does not hide the one outside.
 */
export const ofOrg = (column: RawBuilder<unknown>, org: string | undefined): RawBuilder<unknown>[] => {
  if (org === undefined) return []
  return org === DEFAULT_ORG
    ? [sql`not exists (select from org_workspaces o (assigned) where o.assigned = ${column})`]
    : [sql`${column} in (select workspace from org_workspaces where org = ${org}::uuid)`]
}

/** The organisation of the workspace in a column of another table. */
export const orgOfWorkspace = (column: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`coalesce((select o.org from org_workspaces o where o.workspace = ${column}), ${DEFAULT_ORG}::uuid)`

/** The source of a workspace by the mode of its newest run; null: it has no run. */
export const sourceOf = (runMode: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`case coalesce(${runMode}, '') when '' then 'imported' when 'cloud' then 'cloud' else 'local' end`

const NEWEST_MODE = sql`(select run_mode from runs r where r.workspace = found.name order by r.id desc limit 1)`

/** `with …` of the names, and what the filter leaves of them in `select … from found … order by name`. */
export const namesThat = ({
  search,
  org,
  source,
}: WorkspaceFilter): { readonly names: RawBuilder<unknown>; readonly conditions: RawBuilder<unknown> } => ({
  names:
    org === undefined || org === DEFAULT_ORG
      ? sql`found(name) as (${NAMES})`
      : sql`found(name) as (select workspace from org_workspaces where org = ${org}::uuid)`,
  conditions: where([
    ...contains(sql`found.name`, search),
    ...(org === DEFAULT_ORG ? ofOrg(sql`found.name`, org) : []),
    ...(source === undefined ? [] : [sql`${sourceOf(NEWEST_MODE)} = ${source}`]),
  ]),
})
