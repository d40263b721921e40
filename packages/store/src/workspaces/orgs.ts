import { randomUUID } from 'node:crypto'
import type { Org, OrgStats } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { isUniqueViolation } from '../database/connection.ts'
import { canBeStored, isUuid } from '../text.ts'
import type { Totals } from '../totals.ts'
import { DEFAULT_ORG, namesThat } from './names.ts'
import type { Tables } from '../tables.ts'

export const MAX_ORGS = 1_000
/** Most names of workspaces in the stats of one organisation. */
const MAX_NAMES = 10_000
/** The same in the list of all. */
const MAX_NAMES_IN_LIST = 100

const COLUMNS = sql`uuid::text, name, description, tags, created_at, updated_at`

type Row = Omit<Org, 'is_default'>
const toOrg = (row: Row): Org => ({ ...row, is_default: row.uuid === DEFAULT_ORG })

export type OrgDraft = Pick<Org, 'name' | 'description' | 'tags'> & { readonly uuid?: string }

export const makeOrgs = (db: Kysely<Tables>, totals: Totals) => ({
  /** All organisations, the default one first. Counts of large ones may be a few seconds old. */
  async list(): Promise<{ org: Org; stats: OrgStats }[]> {
    const [{ rows }, counts, ofDefault, assigned] = await Promise.all([
      sql<Row>`select ${COLUMNS} from orgs order by uuid <> ${DEFAULT_ORG}::uuid, lower(name) limit ${MAX_ORGS}`.execute(
        db,
      ),
      countAll(db, totals),
      namesIn(db, DEFAULT_ORG, MAX_NAMES_IN_LIST),
      sql<{ org: string; names: string[] }>`
        select o.uuid::text as org, array(
          select workspace from org_workspaces w where w.org = o.uuid order by workspace limit ${MAX_NAMES_IN_LIST}
        ) as names from orgs o
      `.execute(db),
    ])
    const names = new Map(assigned.rows.map((row) => [row.org, row.names]))
    names.set(DEFAULT_ORG, ofDefault)
    return rows.map(toOrg).map((org) => ({
      org,
      stats: statsOf(org, counts.get(org.uuid) ?? NOTHING, names.get(org.uuid) ?? []),
    }))
  },
  /** By uuid or name. */
  find: (ref: string): Promise<Org | undefined> => find(db, ref),
  async stats(org: Org): Promise<OrgStats> {
    const counts = (await countAll(db, totals)).get(org.uuid) ?? NOTHING
    return statsOf(org, counts, await namesIn(db, org.uuid, MAX_NAMES))
  },
  /** `taken`: the name or the uuid exists. */
  create: (draft: OrgDraft): Promise<Org | 'taken' | 'full'> => orTaken(() => create(db, draft)),
  /** Undefined: it does not exist. */
  change: (uuid: string, change: Partial<Omit<OrgDraft, 'uuid'>>): Promise<Org | 'taken' | undefined> =>
    orTaken(() => alter(db, uuid, change)),
  /**
   * Moves workspaces from their present organisations; returns how many changed. In order, so that concurrent calls
   * do not deadlock.
   */
  async assign(uuid: string, workspaces: readonly string[]): Promise<number> {
    const names = [...new Set(workspaces)].filter(canBeStored).sort()
    const { numAffectedRows } =
      uuid === DEFAULT_ORG
        ? await sql`delete from org_workspaces where workspace = any(${names})`.execute(db)
        : await sql`
            insert into org_workspaces (workspace, org)
            select name, ${uuid}::uuid from unnest(${names}::text[]) name order by name
            on conflict (workspace) do update set org = excluded.org where org_workspaces.org <> excluded.org
          `.execute(db)
    return Number(numAffectedRows ?? 0n)
  },
  /** Its workspaces move to the default organisation. */
  async remove(uuid: string): Promise<boolean> {
    const { numAffectedRows } = await sql`
      delete from orgs where uuid = ${uuid}::uuid and uuid <> ${DEFAULT_ORG}::uuid
    `.execute(db)
    return (numAffectedRows ?? 0n) > 0n
  },
})

const orTaken = async <T>(work: () => Promise<T>): Promise<T | 'taken'> => {
  try {
    return await work()
  } catch (error) {
    if (isUniqueViolation(error)) return 'taken'
    throw error
  }
}

const find = async (db: Kysely<Tables>, ref: string): Promise<Org | undefined> => {
  if (!canBeStored(ref)) return undefined
  const { rows } = await sql<Row>`
    select ${COLUMNS} from orgs
    where lower(name) = lower(${ref}) ${isUuid(ref) ? sql`or uuid = ${ref}::uuid` : sql``}
    order by uuid::text <> ${ref.toLowerCase()} limit 1
  `.execute(db)
  return rows[0] && toOrg(rows[0])
}

interface Counts {
  readonly workspaces: number
  readonly assets: number
  readonly vulnerabilities: number
  readonly runs: number
}
const NOTHING: Counts = { workspaces: 0, assets: 0, vulnerabilities: 0, runs: 0 }

/** Counts of all organisations at once: each table is read once, however many there are. */
const countAll = (db: Kysely<Tables>, totals: Totals): Promise<Map<string, Counts>> =>
  totals.group(
    'orgs',
    async () => {
      const { names } = namesThat({})
      const counted = (table: string, condition = sql`true`) => sql`
        select coalesce(o.org, ${DEFAULT_ORG}::uuid) as org, sum(n) as n
        from (select workspace, count(*) as n from ${sql.table(table)} where ${condition} group by workspace) c
        left join org_workspaces o on o.workspace = c.workspace group by 1`
      const { rows } = await sql<Counts & { org: string }>`
        with ${names}, w as (
          select coalesce(o.org, ${DEFAULT_ORG}::uuid) as org, count(*) as n
          from found left join org_workspaces o on o.workspace = found.name group by 1
        ), a as (${counted('assets')}), v as (${counted('vulnerabilities', sql`state = 'open'`)}), r as (${counted('runs')})
        select w.org::text, w.n::bigint as workspaces, coalesce(a.n, 0)::bigint as assets,
               coalesce(v.n, 0)::bigint as vulnerabilities, coalesce(r.n, 0)::bigint as runs
        from w left join a on a.org = w.org left join v on v.org = w.org left join r on r.org = w.org
      `.execute(db)
      return new Map(rows.map(({ org, ...counts }) => [org, counts]))
    },
    (all) => all.values().reduce((sum, c) => sum + c.workspaces + c.assets + c.vulnerabilities + c.runs, 0),
  )

const namesIn = async (db: Kysely<Tables>, org: string, limit: number): Promise<string[]> => {
  const { names, conditions } = namesThat({ org })
  const { rows } = await sql<{ name: string }>`
    with ${names} select name from found ${conditions} order by name limit ${limit}
  `.execute(db)
  return rows.map(({ name }) => name)
}

const statsOf = (org: Org, counts: Counts, workspaces: string[]): OrgStats => ({
  org_uuid: org.uuid,
  org_name: org.name,
  total_workspaces: counts.workspaces,
  total_assets: counts.assets,
  total_vulns: counts.vulnerabilities,
  total_runs: counts.runs,
  workspaces,
})

const create = async (db: Kysely<Tables>, draft: OrgDraft): Promise<Org | 'full'> => {
  const { rows } = await sql<Row>`
    insert into orgs (uuid, name, description, tags)
    select ${draft.uuid ?? randomUUID()}::uuid, ${draft.name}, ${draft.description}, ${draft.tags}::text[]
    where (select count(*) from orgs) < ${MAX_ORGS} returning ${COLUMNS}
  `.execute(db)
  return rows[0] === undefined ? 'full' : toOrg(rows[0])
}

const alter = async (
  db: Kysely<Tables>,
  uuid: string,
  { name, description, tags }: Partial<Omit<OrgDraft, 'uuid'>>,
): Promise<Org | undefined> => {
  const { rows } = await sql<Row>`
    update orgs set name = coalesce(${name ?? null}, name), description = coalesce(${description ?? null}, description),
                    tags = coalesce(${tags ?? null}::text[], tags), updated_at = now()
    where uuid = ${uuid}::uuid returning ${COLUMNS}
  `.execute(db)
  return rows[0] && toOrg(rows[0])
}
