import type {
  ChangeScope,
  NeverScan,
  NeverScanRule,
  NewNeverScan,
  NewScope,
  Refusal,
  Scope,
  ScopeRules,
} from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { isUniqueViolation } from './database/connection.ts'
import { contains, where } from './findings/condition.ts'
import type { Refused } from './jobs/job-draft.ts'
import { refusalItems } from './jobs/submit-job.ts'
import { jobNoOf } from './jobs/job-no.ts'
import { countOf, type PageOf, type PageRequest } from './page.ts'
import { storable, storableJson } from './text.ts'
import type { Tables } from './tables.ts'
import { allRows, changedRows, firstRow } from './rows.ts'

/** Every master keeps all scopes in memory. */
export const MAX_SCOPES = 1_000

const NO_CURSOR = { nextCursor: undefined, truncated: false } as const
const KEEP_REFUSALS_DAYS = 90
const PRUNED_AT_ONCE = 100_000

/** All that a master needs to decide about targets. */
export interface ScopeBook {
  readonly version: number
  readonly scopes: readonly (ScopeRules & { readonly id: number })[]
  /** The scope of each workspace that has one. */
  readonly workspaces: Readonly<Record<string, number>>
  readonly neverScan: readonly (NeverScanRule & { readonly workflow: string })[]
}

const SCOPE = sql`
  s.name, s.allowed, s.denied, s.owner, s.note, s.valid_from, s.valid_until, s.windows, s.zone, s.enforcement, s.limits,
  array(select w.workspace from scope_workspaces w where w.scope_no = s.id order by w.workspace) as workspaces,
  s.created_by, s.created_at, s.updated_at`

type Saved = 'taken' | 'full' | { readonly boundTo: string; readonly workspace: string }

/** `upkeep`: the same database with a longer statement timeout. */
export const makeScopes = (db: Kysely<Tables>, upkeep: Kysely<Tables>) => {
  const find = (name: string): Promise<Scope | undefined> => firstRow(db)<Scope>`
      select ${SCOPE} from scan_scopes s where lower(s.name) = lower(${storable(name)})`
  return {
    async list(): Promise<Scope[]> {
      return await allRows(db)<Scope>`select ${SCOPE} from scan_scopes s order by lower(s.name)`
    },
    find,
    /** A name or a workspace that is in use, or too many scopes, change nothing. */
    async add(scope: NewScope, by: string): Promise<Scope | Saved | undefined> {
      const problem = await saving(db, async (tx) => {
        const { rows } = await sql<{ id: number }>`
          insert into scan_scopes (name, allowed, denied, owner, note, valid_from, valid_until, windows, zone, enforcement, limits, created_by)
          select ${scope.name}, ${texts(scope.allowed)}, ${texts(scope.denied ?? [])}, ${storable(scope.owner ?? '')},
                 ${storable(scope.note ?? '')}, ${scope.valid_from ?? null}, ${scope.valid_until ?? null},
                 ${storableJson(scope.windows ?? [])}::jsonb, ${scope.zone ?? 'UTC'}, ${scope.enforcement ?? 'checked'},
                 ${storableJson(scope.limits ?? {})}::jsonb, ${storable(by)}
          where (select count(*) from scan_scopes) < ${MAX_SCOPES}
          returning id`.execute(tx)
        const id = rows[0]?.id
        if (id === undefined) return 'full'
        return bind(tx, id, scope.workspaces ?? [])
      })
      return problem ?? (await find(scope.name))
    },
    /** Undefined: it does not exist. */
    async change(name: string, change: ChangeScope): Promise<Scope | Saved | undefined> {
      const problem = await saving(db, async (tx) => {
        const set = [
          ...columnsOf(change).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
          sql`updated_at = now()`,
        ]
        const { rows } = await sql<{ id: number }>`
          update scan_scopes set ${sql.join(set)} where lower(name) = lower(${storable(name)}) returning id`.execute(
          tx,
        )
        const id = rows[0]?.id
        return id === undefined || change.workspaces === undefined
          ? undefined
          : bind(tx, id, change.workspaces)
      })
      return problem ?? (await find(change.name ?? name))
    },
    /** The workspaces that are bound to it keep it: they are returned, and nothing is removed. */
    async remove(name: string): Promise<readonly string[] | 'removed' | undefined> {
      const scope = await find(name)
      if (scope === undefined) return undefined
      const { numAffectedRows } = await sql`
        delete from scan_scopes s where lower(name) = lower(${storable(name)})
          and not exists (select from scope_workspaces w where w.scope_no = s.id)`.execute(db)
      return (numAffectedRows ?? 0n) > 0n ? 'removed' : ((await find(name))?.workspaces ?? 'removed')
    },
    /** Undefined: nothing changed since this version. */
    async book(known: number | undefined): Promise<ScopeBook | undefined> {
      const row = await firstRow(db)<{ version: number; book: Omit<ScopeBook, 'version'> | null }>`
        select v.version, case when v.version <> ${known ?? -1}::bigint then jsonb_build_object(
          'scopes', (select coalesce(jsonb_agg(rules_of_scope(id)), '[]') from scan_scopes),
          'workspaces', (select coalesce(jsonb_object_agg(workspace, scope_no), '{}') from scope_workspaces),
          'neverScan', never_scan_rules(null)) end as book
        from scopes_version v`
      return row === undefined || row.book === null ? undefined : { version: row.version, ...row.book }
    },
    /** Whether a job has no scope, and nor has the workspace, or that of one of its runs. */
    async isUnbound(jobId: string, workspace?: string): Promise<boolean> {
      const isFree = (of: RawBuilder<unknown>) =>
        sql`not exists (select from scope_workspaces w where w.workspace = ${of})`
      const { rows } = await sql`
        select from jobs j where j.job_id = ${storable(jobId)} and j.scope_no is null and ${
          workspace === undefined
            ? sql`(exists (select from runs r where r.job_no = j.id and ${isFree(sql`r.workspace`)})
                   or exists (select from job_targets t, unnest(t.workspaces) as u(name)
                              where t.job_no = j.id and ${isFree(sql`u.name`)}))`
            : isFree(sql`${storable(workspace)}`)
        }`.execute(db)
      return rows.length > 0
    },
    /** Records the refusals of a request that created no job. */
    async refuse(refused: Refused): Promise<void> {
      await sql`select record_refusals(null, ${storableJson(refusalItems(refused))}::jsonb)`.execute(db)
    },
    /** Of a job, oldest first, or the targets that mode delta left out; undefined if there is no such job. */
    async refusals(
      jobId: string,
      { offset, limit }: PageRequest,
      ofDelta = false,
    ): Promise<PageOf<Refusal> | undefined> {
      const no = await jobNoOf(db, jobId)
      if (no === undefined) return undefined
      const { rows } = await sql<Refusal>`
        select f.id, f.target, f.reason, f.place, f.created_at,
               coalesce((select run_uuid::text from runs r where r.id = f.run_id), '') as run_uuid
        from refusals f where f.job_no = ${no} and (f.place = 'delta') = ${ofDelta} order by f.id offset ${offset} limit ${limit}`.execute(
        db,
      )
      const { rows: counts } = await sql<{ refused: number; left_out: number }>`
        select left_out, refused + (select count(*) from refusals f where f.job_no = ${no} and f.run_id is not null) as refused
        from jobs where id = ${no}`.execute(db)
      const [count] = counts
      return {
        data: rows,
        total: (ofDelta ? count?.left_out : count?.refused) ?? rows.length,
        ...NO_CURSOR,
      }
    },
    async pruneRefusals(): Promise<number> {
      return await changedRows(upkeep)`
        delete from refusals where id in (
          select id from refusals where created_at < now() - ${KEEP_REFUSALS_DAYS} * interval '1 day'
          order by created_at limit ${PRUNED_AT_ONCE})`
    },
    ...makeNeverScan(db, upkeep),
  }
}

const makeNeverScan = (db: Kysely<Tables>, upkeep: Kysely<Tables>) => ({
  /** By the time they were added. `search`: part of an entry or reason. */
  async neverScan(search: string | undefined, { offset, limit }: PageRequest): Promise<PageOf<NeverScan>> {
    const condition = where(contains(sql`entry || ' ' || reason`, search))
    const { rows } = await sql<NeverScan>`
      select id, entry, reason, until, workflow, created_by, created_at from never_scan ${condition}
      order by id offset ${offset} limit ${limit}`.execute(db)
    const total = await countOf(db, sql`from never_scan ${condition}`)
    return { data: rows, total, ...NO_CURSOR }
  },
  /** Adds entries, or replaces reason and end of those that exist. `full`: there would be more than `most`; none is added. */
  async addNeverScan(
    entries: readonly NewNeverScan[],
    by: string,
    most: number,
  ): Promise<{ added: number; replaced: number; ids: number[] } | 'full'> {
    const unique = new Map(
      entries.map(({ entry, reason, until = null, workflow = '' }) => [
        `${entry}\n${workflow}`,
        { entry, reason, until, workflow },
      ]),
    )
    return await upkeep.transaction().execute(async (tx) => {
      await sql`lock table never_scan in share row exclusive mode`.execute(tx)
      const { rows } = await sql<{ id: number; is_new: boolean }>`
        insert into never_scan (entry, reason, until, workflow, created_by)
        select entry, reason, until, workflow, ${storable(by)}
        from jsonb_to_recordset(${storableJson([...unique.values()])}::jsonb) as e(entry text, reason text, until timestamptz, workflow text)
        on conflict (entry, workflow) do update
        set reason = excluded.reason, until = excluded.until, created_by = excluded.created_by, created_at = now()
        returning id, xmax = 0 as is_new`.execute(tx)
      const count = await countOf(tx, sql`from never_scan`)
      const added = rows.filter(({ is_new }) => is_new).length
      if (count > most && added > 0) {
        await sql`delete from never_scan where id = any(${rows.filter(({ is_new }) => is_new).map(({ id }) => id)})`.execute(
          tx,
        )
        return 'full'
      }
      return { added, replaced: rows.length - added, ids: rows.map(({ id }) => id) }
    })
  },
  async oneNeverScan(id: number): Promise<NeverScan | undefined> {
    return await firstRow(db)<NeverScan>`
      select id, entry, reason, until, workflow, created_by, created_at from never_scan where id = ${id}`
  },
  async removeNeverScan(id: number): Promise<boolean> {
    return (await changedRows(db)`delete from never_scan where id = ${id}`) > 0
  },
})

const texts = (values: readonly string[]): string[] => values.map(storable)

const columnsOf = ({ windows, limits, workspaces: _, ...change }: ChangeScope): [string, unknown][] => [
  ...Object.entries(change).flatMap(([column, value]): [string, unknown][] =>
    value === undefined
      ? []
      : [[column, Array.isArray(value) ? texts(value) : typeof value === 'string' ? storable(value) : value]],
  ),
  ...(limits === undefined ? [] : [['limits', sql`${storableJson(limits)}::jsonb`] as [string, unknown]]),
  ...(windows === undefined ? [] : [['windows', sql`${storableJson(windows)}::jsonb`] as [string, unknown]]),
]

/** Undoes what was done if there is a problem. */
const saving = async (
  db: Kysely<Tables>,
  work: (tx: Kysely<Tables>) => Promise<Saved | undefined>,
): Promise<Saved | undefined> => {
  try {
    return await db.transaction().execute(async (tx) => {
      const problem = await work(tx)
      if (problem !== undefined) throw new Undone(problem)
      return undefined
    })
  } catch (error) {
    if (error instanceof Undone) return error.problem
    if (isUniqueViolation(error)) return 'taken'
    throw error
  }
}

class Undone extends Error {
  readonly problem: Saved

  constructor(problem: Saved) {
    super()
    this.problem = problem
  }
}

/** Replaces the workspaces of a scope. A workspace has one scope. */
const bind = async (
  tx: Kysely<Tables>,
  id: number,
  workspaces: readonly string[],
): Promise<Saved | undefined> => {
  await sql`delete from scope_workspaces where scope_no = ${id} and workspace <> all(${texts(workspaces)})`.execute(
    tx,
  )
  await sql`insert into scope_workspaces (workspace, scope_no) select distinct unnest(${texts(workspaces)}::text[]), ${id}::bigint
            on conflict do nothing`.execute(tx)
  const other = await firstRow(tx)<{ workspace: string; name: string }>`
    select w.workspace, s.name from scope_workspaces w join scan_scopes s on s.id = w.scope_no
    where w.workspace = any(${texts(workspaces)}) and w.scope_no <> ${id} order by 1 limit 1`
  return other && { boundTo: other.name, workspace: other.workspace }
}
