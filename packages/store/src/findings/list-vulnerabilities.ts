import type { Confidence, FindingState, Seen, Severity, Verdict, Vulnerability } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { storable } from '../text.ts'
import type { Totals } from '../totals.ts'
import { ofOrg, orgOfWorkspace } from '../workspaces/names.ts'
import { conditionsBy, contains, has, isLastRun, isOneOf, oneOf, type ValuesOf } from './condition.ts'
import { makeRecordList } from './record-list.ts'
import { SORTED_LETTERS, type SortKey } from './sorted.ts'
import type { Tables } from '../tables.ts'

/** What rules and groups call the check of a finding. */
export const CHECK = sql`(case vuln_info when '' then vuln_title else vuln_info end)`
/** '' for places that are no hosts. */
export const hostOf = (place: RawBuilder<unknown>, type: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(case when ${type} in ('file', 'package') then '' else host_of(${place}) end)`
export const HOST = hostOf(sql`asset_value`, sql`asset_type`)

const SORT_KEYS = {
  // The same expressions as in the index.
  severity: { key: sql`severity_rank(v.severity)`, type: 'bigint', isIndexed: true },
  priority: {
    key: sql`(-priority_score(v.severity, v.epss, v.kev, v.asset_type, v.asset_value))`,
    type: 'bigint',
    isIndexed: true,
  },
  epss: { key: sql`(-(coalesce(v.epss, 0) * 1e6)::bigint)`, type: 'bigint' },
  title: { key: sql`lower(left(v.vuln_title, ${SORTED_LETTERS}))`, type: 'text' },
  asset: { key: sql`lower(left(v.asset_value, ${SORTED_LETTERS}))`, type: 'text' },
  workspace: { key: sql`left(v.workspace, ${SORTED_LETTERS})`, type: 'text' },
  last_seen: {
    key: sql`(select (extract(epoch from s.last_seen) * 1e6)::bigint from finding_sightings s where s.finding_id = v.id)`,
    type: 'bigint',
  },
} as const satisfies Record<string, SortKey>
export type VulnerabilitySort = keyof typeof SORT_KEYS
export const VULNERABILITY_SORTS = Object.keys(SORT_KEYS) as VulnerabilitySort[]

/** Columns of a record `v`, joined with its last sighting, and its first and last run. */
const COLUMNS = sql`
  v.id, v.workspace, ${orgOfWorkspace(sql`v.workspace`)} as org_uuid, v.vuln_info, v.vuln_title, v.vuln_desc, v.vuln_poc, v.severity, v.confidence, v.asset_type,
  v.asset_value, v.tags, v.fingerprint, t.occurrences, v.detail_http_request, v.detail_http_response,
  restore_raw(v.raw_vuln_json, v.detail_http_request, v.detail_http_response) as raw_vuln_json,
  coalesce(encode(v.finding_hash, 'hex'), '') as finding_hash, v.state, v.first_seen, t.last_seen,
  t.last_seen as last_seen_at, t.times_seen, v.gone_at, coalesce(f.run_uuid::text, '') as first_run_uuid,
  coalesce(l.run_uuid::text, '') as run_uuid, v.seen, v.seen_reason, v.verdict, v.reason, v.until, v.decided_by,
  v.decided_at, v.back_at, v.assignee, v.ticket, v.scan_severity, v.cves, v.epss, v.epss_percentile, v.kev, v.kev_due::text as kev_due,
  priority_of(v.severity, v.scan_severity, v.epss, v.epss_percentile, v.kev, v.kev_due, v.asset_type, v.asset_value)
    as priority,
  v.source, v.created_at, v.updated_at`
const RUNS = sql`
  join finding_sightings t on t.finding_id = v.id
  left join runs f on f.id = v.first_run left join runs l on l.id = t.last_run`

/** The same expression as in the index. */
const TEXT = sql`(vuln_title || ' ' || vuln_info || ' ' || asset_value)`

const FILTERS = {
  workspace: oneOf('workspace'),
  severity: oneOf<Severity>('severity'),
  confidence: oneOf<Confidence>('confidence'),
  asset_type: oneOf('asset_type'),
  state: (state: FindingState) => isOneOf('state', [state]),
  seen: oneOf<Seen>('seen'),
  verdict: oneOf<Verdict>('verdict'),
  /** Whether a scan has seen it again after a fix was claimed. */
  back: (isBack: boolean) => [isBack ? sql`back_at is not null` : sql`back_at is null`],
  assignee: (name: string) => isOneOf('assignee', [name]),
  /** Whether one of its CVEs is known to be exploited. */
  kev: (isExploited: boolean) => [isExploited ? sql`kev` : sql`not kev`],
  min_epss: (least: number) => [sql`epss >= ${least}`],
  source: (source: string) => isOneOf('source', [source]),
  /** The run that saw it last. */
  run_id: (uuid: string) => isLastRun('vulnerability', uuid),
  org: (org: string) => ofOrg(sql`workspace`, org),
  /** Found, or found again, after this time. */
  new_since: (time: Date) => [sql`opened_at > ${time}`],
  tag: (tag: string) => has('tags', tag),
  /** Part of title, identifier or asset, case-insensitive. */
  search: (part: string) => contains(TEXT, part),
  /** Part of the asset. The index serves the condition on the text, here and below. */
  asset_value: (part: string) => [...contains(TEXT, part), ...contains(sql`asset_value`, part)],
  /** The identifier, or the title of a finding without one. */
  check: (check: string) =>
    check === '' ? [] : [...contains(TEXT, check), sql`${CHECK} = ${storable(check)}`],
  /** The host of its place. */
  host: (host: string) =>
    host === '' ? [] : [...contains(TEXT, host), sql`${HOST} = lower(${storable(host)})`],
}
export type VulnerabilityFilter = ValuesOf<typeof FILTERS>

export const conditionsOf = conditionsBy(FILTERS)

/** The longest part decides whether the index serves the search. */
export const searchOf = ({ asset_value = '', search = '', check = '', host = '' }: VulnerabilityFilter) => {
  const parts = Object.entries({ search, asset_value, check, host }).filter(([, part]) => part !== '')
  const [longest] = parts.sort(([, a], [, b]) => b.length - a.length)
  return { part: longest?.[1], parameter: longest?.[0] ?? 'search' }
}

export const makeVulnerabilityList = (db: Kysely<Tables>, totals: Totals) =>
  makeRecordList<Vulnerability, VulnerabilityFilter, VulnerabilitySort>(db, totals, {
    name: 'vulnerabilities',
    alias: 'v',
    keys: SORT_KEYS,
    conditionsOf,
    searchOf,
    from: sql`(vulnerabilities v ${RUNS})`,
    id: sql`v.id`,
    // The record of the scanner repeats request and response.
    bytes: sql`octet_length(v.vuln_title) + octet_length(v.vuln_desc) + octet_length(v.vuln_poc)
      + octet_length(v.asset_value) + octet_length(v.tags::text) + octet_length(v.raw_vuln_json)
      + 2 * (octet_length(v.detail_http_request) + octet_length(v.detail_http_response))`,
    columns: COLUMNS,
  })
