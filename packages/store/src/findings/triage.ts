import {
  MAX_TAGS,
  type FindingState,
  type RuleEffect,
  type RunStatus,
  type Severity,
  type Verdict,
} from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { storable, storableJson } from '../text.ts'
import type { Totals } from '../totals.ts'
import { boundedSearch } from './bounded-search.ts'
import { where } from './condition.ts'
import { FACET_RECORDS, FACET_VALUES, facetsOf, type FacetRow, type Facets } from './facets.ts'
import { conditionsOf, HOST, searchOf, type VulnerabilityFilter } from './list-vulnerabilities.ts'
import type { Tables } from '../tables.ts'

/** `null` takes a decision back: rules and scans decide again. */
export type FindingChange =
  | { readonly delete: true }
  | {
      /** Of older clients: `gone` claims a fix, `open` takes a verdict back. */
      readonly state?: FindingState
      readonly verdict?: Verdict | null
      /** Of the verdict. */
      readonly reason?: string
      /** RFC 3339: when an acceptance ends. */
      readonly until?: string
      readonly severity?: Severity | null
      readonly assignee?: string | null
      readonly ticket?: string
      /** All tags, instead of those that change. */
      readonly tags?: readonly string[] | null
      readonly add_tags?: readonly string[]
      readonly remove_tags?: readonly string[]
      readonly comment?: string
    }

export interface ChangedFinding {
  readonly id: number
  readonly outcome: 'changed' | 'unchanged' | 'deleted' | 'not_found' | 'too_many_tags'
}

/** A run that saw a finding or an asset. */
export interface SeenBy {
  readonly run_uuid: string
  readonly workflow_name: string
  readonly target: string
  readonly status: RunStatus
  readonly started_at: string | null
  readonly completed_at: string | null
}

export interface FindingHistoryEntry {
  readonly changed_at: string
  readonly changes: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
  readonly changed_by: string
  readonly comment: string
  readonly run_uuid: string
}

const FACETS = [
  'severity',
  'confidence',
  'state',
  'seen',
  'verdict',
  'assignee',
  'workspace',
  'asset_type',
  'source',
  'asset_value',
  'host',
  'workflow',
] as const
type FacetName = (typeof FACETS)[number]

/** Most runs of a record. */
const MAX_RUNS = 100

export const makeTriage = (db: Kysely<Tables>, totals: Totals) => ({
  /** Changes findings in one transaction, with their events. `by`: who asked for it. */
  async change(ids: readonly number[], change: FindingChange, by: string): Promise<ChangedFinding[]> {
    const { rows } = await sql<ChangedFinding>`
      select record_id as id, outcome
      from change_vulnerabilities(${ids}::bigint[], ${storableJson(change)}::jsonb, ${storable(by)}, ${MAX_TAGS})
    `.execute(db)
    const outcomes = new Map(rows.map((row) => [row.id, row]))
    return ids.flatMap((id) => outcomes.get(id) ?? [])
  },
  /** Opens up to `limit` findings whose acceptance is over; resolves to how many. */
  async expire(limit: number): Promise<number> {
    const { rows } = await sql<{ ended: number }>`select expire_verdicts(${limit}) as ended`.execute(db)
    return rows[0]?.ended ?? 0
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
  facets: (filter: VulnerabilityFilter): Promise<Facets<FacetName>> =>
    totals.group(
      `facets ${JSON.stringify(Object.entries(filter).sort())}`,
      () => countFacets(db, filter),
      ({ counted }) => counted,
    ),
  /** The newest runs that saw a finding or an asset, as far as sightings are kept. */
  async seenBy(kind: 'vulnerability' | 'asset', id: number): Promise<SeenBy[]> {
    const table =
      kind === 'asset'
        ? sql`assets v join asset_sightings t on t.asset_id = v.id`
        : sql`vulnerabilities v join finding_sightings t on t.finding_id = v.id`
    const { rows } = await sql<SeenBy>`
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
    `.execute(db)
    return rows
  },
  /** The rules that match a finding, in order, with what each of them set. */
  async rulesOf(id: number): Promise<RuleEffect[]> {
    const { rows } = await sql<RuleEffect>`
      select f.id, f.name, array(
        select e.key from jsonb_each(v.ruled) e
        where e.value ->> 'rule' = f.id::text or e.key = 'tags' and f.tags <> '{}' order by 1) as sets
      from vulnerabilities v join finding_rules f on v.ruled -> 'rules' @> to_jsonb(f.id)
      where v.id = ${id} order by f.position, f.id
    `.execute(db)
    return rows
  },
  /** Newest first. */
  async history(id: number): Promise<FindingHistoryEntry[]> {
    const { rows } = await sql<FindingHistoryEntry>`
      select c.changed_at, c.changes, c.changed_by, c.comment, coalesce(r.run_uuid::text, '') as run_uuid
      from finding_changes c left join runs r on r.id = c.run_id
      where c.vulnerability_id = ${id} order by c.id desc
    `.execute(db)
    return rows
  },
})

const countFacets = (db: Kysely<Tables>, filter: VulnerabilityFilter): Promise<Facets<FacetName>> =>
  boundedSearch(db, searchOf(filter), async (on) => {
    const { rows } = await sql<FacetRow<FacetName>>`
      with found as materialized (
        select severity, confidence, state, seen, verdict, nullif(assignee, '') as assignee, workspace, asset_type, source,
               left(asset_value, 512) as asset_value,
               (select t.last_run from finding_sightings t where t.finding_id = vulnerabilities.id) as last_run
        from vulnerabilities ${where(conditionsOf(filter))} order by id desc limit ${FACET_RECORDS}
      ), by_run as materialized (
        select last_run, count(*) as count from found group by last_run
      ), by_place as materialized (
        select asset_value, asset_type, count(*) as count from found group by asset_value, asset_type
      ), grouped as (
        select case when grouping(severity) = 0 then 'severity' when grouping(confidence) = 0 then 'confidence'
                    when grouping(state) = 0 then 'state' when grouping(seen) = 0 then 'seen'
                    when grouping(verdict) = 0 then 'verdict' when grouping(assignee) = 0 then 'assignee'
                    when grouping(workspace) = 0 then 'workspace' when grouping(asset_type) = 0 then 'asset_type'
                    when grouping(source) = 0 then 'source' when grouping(asset_value) = 0 then 'asset_value'
                    else 'counted' end as facet,
               coalesce(severity, confidence, state, seen, verdict, assignee, workspace, asset_type, source, asset_value,
                        '') as value,
               count(*) as count
        from found
        group by grouping sets ((severity), (confidence), (state), (seen), (verdict), (assignee), (workspace),
                                (asset_type), (source), (asset_value), ())
        union all
        select 'host', left(${HOST}, 512), sum(count)::bigint from by_place group by 2
        union all
        select 'workflow', coalesce(r.workflow_name, ''), sum(b.count)::bigint
        from by_run b left join runs r on r.id = b.last_run group by 2
      )
      select facet, value, count from (
        select *, row_number() over (partition by facet order by count desc, value) as n from grouped) ranked
      where n <= ${FACET_VALUES} order by facet, n
    `.execute(on)
    return facetsOf(FACETS, rows)
  })
