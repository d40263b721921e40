import type { RecordChange, RecordChanges } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { canBeStored } from '../text.ts'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

type Kind = 'vulnerability' | 'asset'

export interface ChangesPart {
  /** Most records of each list. */
  readonly limit: number
  /** Only this list; the totals count all. */
  readonly change?: 'new' | 'gone' | 'changed'
  /** Only records with a higher id: the last one of the previous page. */
  readonly after?: number
}

export interface Period extends ChangesPart {
  readonly from: Date
  readonly to: Date
}

export interface RunDiff {
  vulnerabilities: RecordChanges
  assets: RecordChanges
}

/** `upkeep`: the same database with a longer statement timeout. */
export const makeScans = (db: Kysely<Tables>, upkeep: Kysely<Tables>) => ({
  /**
   * Judges the scans of up to `limit` ended runs: records that a complete scan did not see, and that no other scope
   * has seen since, become `gone`. One master at a time; resolves to the number of judged runs. Keeps the
   * observations of the latest `history` runs of a scope. One transaction for each run: locks of several runs would
   * not be in the order of imports.
   */
  async judge({ limit, history }: { limit: number; history: number }): Promise<number> {
    let judged = 0
    while (judged < limit) {
      if ((await firstValue(upkeep, 0)`select judge_scans(1, ${history}) as judged`) !== 1) break
      judged += 1
    }
    return judged
  },
  /** Compares what runs `a` and `b` have seen. */
  async compare(a: number, b: number, part: ChangesPart): Promise<RunDiff> {
    const [vulnerabilities, assets] = await Promise.all([
      compare(db, 'vulnerability', a, b, part),
      compare(db, 'asset', a, b, part),
    ])
    return { vulnerabilities, assets }
  },
  /** Changes in a workspace after `from` up to `to`, with the present state of its records. */
  changes: (kind: Kind, workspace: string, period: Period): Promise<RecordChanges> =>
    canBeStored(workspace) ? changes(db, kind, workspace, period) : Promise.resolve(NOTHING),
})

const NOTHING: RecordChanges = {
  new: [],
  gone: [],
  changed: [],
  total_new: 0,
  total_gone: 0,
  total_changed: 0,
}

interface ChangeRow {
  readonly change: 'new' | 'gone' | 'changed'
  readonly total: number
  /** Null in a row that only has the total of a list. */
  readonly id: number | null
  readonly before: Record<string, unknown> | null
  readonly after: Record<string, unknown> | null
}

const changesOf = (rows: readonly ChangeRow[]): RecordChanges => {
  const of = (word: ChangeRow['change']): readonly ChangeRow[] => rows.filter(({ change }) => change === word)
  const records = (some: readonly ChangeRow[]): RecordChange[] =>
    some.flatMap(({ id, before, after }) => (id === null ? [] : [{ id, before, after }]))
  const [found, gone, changed] = [of('new'), of('gone'), of('changed')]
  return {
    new: records(found),
    gone: records(gone),
    changed: records(changed),
    total_new: found[0]?.total ?? 0,
    total_gone: gone[0]?.total ?? 0,
    total_changed: changed[0]?.total ?? 0,
  }
}

/** Most bytes of each list of changes; it has at least one record. */
const LIST_BYTES = 2 * 1024 * 1024

const fitting = (limited: RawBuilder<unknown>) => sql`
  select change, total, id, before, after from (
    select *, sum(coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0))
              over (partition by change order by id) as up_to
    from (${limited}) limited) sized
  where n = 1 or up_to <= ${LIST_BYTES} order by change, id`

/** Whether a finding that run `b` did not see was gone then, as its history says; without a history: whether it is now. */
const wasGone = (b: number) => sql`coalesce(
  (select c.changes #>> '{seen,to}' from finding_changes c
   where c.vulnerability_id = sides.id and c.run_id <= ${b} and c.changes ? 'seen' order by c.id desc limit 1),
  (select v.seen from vulnerabilities v where v.id = sides.id), 'gone') = 'gone'`

/** What the latest attempts of two runs saw, side by side. What run `b` did not test is no change. */
const compare = async (
  db: Kysely<Tables>,
  kind: Kind,
  a: number,
  b: number,
  { limit, change, after = 0 }: ChangesPart,
): Promise<RecordChanges> => {
  const side = (run: number) => sql`
    select o.record_id, o.seen from observations o join runs r on r.id = o.run_id and r.attempt = o.attempt
    where o.run_id = ${run} and o.kind = ${kind}`
  const { rows } = await sql<ChangeRow>`
    with sides as (
      select coalesce(a.record_id, b.record_id) as id, a.seen as before, b.seen as after
      from (${side(a)}) a full join (${side(b)}) b on b.record_id = a.record_id
      where a.seen is distinct from b.seen
    ), named as (
      select case when before is null then 'new' when after is null then 'gone' else 'changed' end as change, *
      from sides where ${kind === 'asset' ? sql`true` : sql`after is not null or ${wasGone(b)}`}
    ), totals as (
      select change, count(*) as total from named group by change
    ), numbered as (
      select *, row_number() over (partition by change order by id) as n from named join totals using (change)
      where id > ${after} and (${change ?? null}::text is null or change = ${change ?? null})
    )
    select change, total, null::bigint as id, null::jsonb as before, null::jsonb as after from totals
    union all
    (${fitting(sql`select * from numbered where n <= ${limit}`)})
  `.execute(db)
  return changesOf(rows)
}

const TABLES = {
  vulnerability: { table: sql`vulnerabilities`, seen: sql`finding_seen(t)` },
  asset: { table: sql`assets`, seen: sql`asset_seen(t)` },
}

/** By the timestamps of the records: of several changes each record shows the last one. */
const changes = async (
  db: Kysely<Tables>,
  kind: Kind,
  workspace: string,
  { from, to, limit, change, after = 0 }: Period,
): Promise<RecordChanges> => {
  const { table, seen } = TABLES[kind]
  const { rows } = await sql<ChangeRow>`
    with named as (
      select t.id,
             case when t.gone_at > ${from} and t.gone_at <= ${to} then 'gone'
                  when t.opened_at > ${from} and t.opened_at <= ${to} then 'new'
                  when t.updated_at > ${from} and t.updated_at <= ${to} then 'changed' end as change
      from ${table} t where t.workspace = ${workspace}
    ), totals as (
      select change, count(*) as total from named where change is not null group by change
    ), numbered as (
      select *, row_number() over (partition by change order by id) as n from named join totals using (change)
      where id > ${after} and (${change ?? null}::text is null or change = ${change ?? null})
    )
    select change, total, null::bigint as id, null::jsonb as before, null::jsonb as after from totals
    union all
    (${fitting(sql`
      select n.*, case change when 'gone' then ${seen} end as before,
             case change when 'gone' then null else ${seen} end as after
      from numbered n join ${table} t on t.id = n.id where n.n <= ${limit}`)})
  `.execute(db)
  return changesOf(rows)
}
