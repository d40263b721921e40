import {
  MAX_TAGS,
  type Decision,
  type DecisionOutcome,
  type FindingHistoryEntry,
  type RuleEffect,
  type SeenBy,
} from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { storable, storableJson } from '../text.ts'
import type { Totals } from '../totals.ts'
import { boundedSearch } from './bounded-search.ts'
import { where } from './condition.ts'
import { FACET_RECORDS, FACET_VALUES, facetsOf, type FacetRow, type Facets } from './facets.ts'
import { conditionsOf, hostOf, searchOf, type VulnerabilityFilter } from './list-vulnerabilities.ts'
import type { Tables } from '../tables.ts'
import { allRows, firstValue } from '../rows.ts'

export type FindingChange = { readonly delete: true } | Decision

/** Few values: they are counted together, by their combinations. */
const FEW = [
  'severity',
  'confidence',
  'state',
  'seen',
  'verdict',
  'assignee',
  'workspace',
  'asset_type',
  'source',
] as const
export const FINDING_FACETS = [...FEW, 'asset_value', 'host', 'workflow'] as const
export type FindingFacet = (typeof FINDING_FACETS)[number]

/** Most runs of a record. */
const MAX_RUNS = 100

export const makeTriage = (db: Kysely<Tables>, totals: Totals) => ({
  /** Changes findings in one transaction, with their events. `by`: who asked for it. */
  async change(ids: readonly number[], change: FindingChange, by: string): Promise<DecisionOutcome[]> {
    const { rows } = await sql<DecisionOutcome>`
      select record_id as id, outcome
      from change_vulnerabilities(${ids}::bigint[], ${storableJson(change)}::jsonb, ${storable(by)}, ${MAX_TAGS})
    `.execute(db)
    const outcomes = new Map(rows.map((row) => [row.id, row]))
    return ids.flatMap((id) => outcomes.get(id) ?? [])
  },
  /** Opens up to `limit` findings whose acceptance is over; resolves to how many. */
  async expire(limit: number): Promise<number> {
    return await firstValue(db, 0)`select expire_verdicts(${limit}) as ended`
  },
  /** Ids of the newest findings below `below`. */
  async ids(filter: VulnerabilityFilter, below: number | undefined, limit: number): Promise<number[]> {
    const conditions = conditionsOf(filter)
    if (below !== undefined) conditions.push(sql`id < ${below}`)
    return await boundedSearch(db, searchOf(filter), async (on) => {
      const { rows } = await sql<{ id: number }>`
        select id from vulnerabilities ${where(conditions)} order by id desc limit ${limit}
      `.execute(on)
      return rows.map(({ id }) => id)
    })
  },
  /** How often each value occurs among the newest findings of a filter, the most frequent first. */
  facets: (
    filter: VulnerabilityFilter,
    names: readonly FindingFacet[] = FINDING_FACETS,
  ): Promise<Facets<FindingFacet>> =>
    totals.group(
      `facets ${names.toSorted().join()} ${JSON.stringify(Object.entries(filter).sort())}`,
      () => countFacets(db, filter, names),
      ({ counted }) => counted,
    ),
  /** The newest runs that saw a finding or an asset, as far as sightings are kept. */
  async seenBy(kind: 'vulnerability' | 'asset', id: number): Promise<SeenBy[]> {
    const table =
      kind === 'asset'
        ? sql`assets v join asset_sightings t on t.asset_id = v.id`
        : sql`vulnerabilities v join finding_sightings t on t.finding_id = v.id`
    return await allRows(db)<SeenBy>`
      with scopes as (
        select scope_id from sightings where kind = ${kind} and record_id = ${id}
        union
        select s.scope_id from ${table} join scans s on s.run_id in (v.first_run, t.last_run)
        where v.id = ${id} and s.kind = ${kind}
      ), seen as (
        select distinct s.run_id from scopes join scans s using (scope_id)
        join observations o on (o.run_id, o.attempt, o.kind, o.record_id)
                             = (s.run_id, s.attempt, ${kind}, ${id}::bigint)
        union
        select unnest(array[v.first_run, t.last_run]) from ${table} where v.id = ${id}
      )
      select r.run_uuid, r.workflow_name, r.target, r.status, r.started_at, r.completed_at
      from seen join runs r on r.id = seen.run_id order by r.id desc limit ${MAX_RUNS}
    `
  },
  /** The rules that match a finding, in order, with what each of them set. */
  async rulesOf(id: number): Promise<RuleEffect[]> {
    return await allRows(db)<RuleEffect>`
      select f.id, f.name, array(
        select e.key from jsonb_each(v.ruled) e
        where e.value ->> 'rule' = f.id::text or e.key = 'tags' and f.tags <> '{}' order by 1) as sets
      from vulnerabilities v join finding_rules f on v.ruled -> 'rules' @> to_jsonb(f.id)
      where v.id = ${id} order by f.position, f.id
    `
  },
  /** Newest first. */
  async history(id: number): Promise<FindingHistoryEntry[]> {
    return await allRows(db)<FindingHistoryEntry>`
      select c.changed_at, c.changes, c.changed_by, c.comment, coalesce(r.run_uuid::text, '') as run_uuid, r.id as run_id
      from finding_changes c left join runs r on r.id = c.run_id
      where c.vulnerability_id = ${id} order by c.id desc
    `
  },
})

/** Places, hosts and workflows cost far more than all else: they are counted only if they are asked for. */
const countFacets = (
  db: Kysely<Tables>,
  filter: VulnerabilityFilter,
  names: readonly FindingFacet[],
): Promise<Facets<FindingFacet>> =>
  boundedSearch(db, searchOf(filter), async (on) => {
    const asks = (name: FindingFacet): boolean => names.includes(name)
    const few = FEW.filter(asks)
    const keys = few.map((name) => sql.ref(name))
    const isByAsset = asks('host') || asks('asset_value')
    const columns = [
      ...(keys.length === 0 ? [sql`id`] : keys),
      ...(isByAsset ? [sql`left(asset_value, 512) as place, asset_type as kind`] : []),
      ...(asks('workflow') ? [LAST_RUN] : []),
    ]
    const classes = keys.length === 0 ? sql`()` : sql.join(keys)
    const each = few.map((name) => sql`(${sql.lit(name)}, ${sql.ref(name)} collate "C")`)
    const first = sql`order by count desc, value limit ${FACET_VALUES}`
    const host = hostOf(sql`place`, sql`kind`)
    const parts = [
      sql`select name as facet, value, sum(count)::bigint as count
          from classes, lateral (values ${sql.join([...each, sql`('counted', '')`])}) each (name, value)
          group by 1, 2`,
      ...(asks('asset_value')
        ? [
            sql`(select 'asset_value', place collate "C" as value, sum(count)::bigint as count from places
                group by 2 ${first})`,
          ]
        : []),
      ...(asks('host')
        ? [
            sql`(select 'host', left(${host}, 512) collate "C" as value, sum(count)::bigint as count from places
                group by 2 ${first})`,
          ]
        : []),
      ...(asks('workflow')
        ? [
            sql`select 'workflow', coalesce(r.workflow_name, '') collate "C", sum(b.count)::bigint
               from (select last_run, count(*) as count from found group by 1) b
               left join runs r on r.id = b.last_run group by 2`,
          ]
        : []),
    ]
    const places = sql`, places as (select place, kind, count(*) as count from found group by 1, 2)`
    const { rows } = await sql<FacetRow<FindingFacet>>`
      with found as materialized (
        select ${sql.join(columns)} from vulnerabilities ${where(conditionsOf(filter))}
        order by id desc limit ${FACET_RECORDS}
      ), classes as (
        select ${sql.join([...keys, sql`count(*) as count`])} from found group by ${classes}
      )${isByAsset ? places : sql``}, counted as (${sql.join(parts, sql` union all `)})
      select facet, value, count from (
        select *, row_number() over (partition by facet order by count desc, value) as n from counted) ranked
      where n <= ${FACET_VALUES} order by facet, n
    `.execute(on)
    return facetsOf(FINDING_FACETS, rows)
  })

const LAST_RUN = sql`
  (select t.last_run from finding_sightings t where t.finding_id = vulnerabilities.id) as last_run`
