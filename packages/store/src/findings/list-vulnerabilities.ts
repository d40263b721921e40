import type { Confidence, FindingState, Seen, Severity, Verdict, Vulnerability } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { countOf, decodeCursor, pageOf, readPage, type PageOf, type PageRows } from '../page.ts'
import { storable } from '../text.ts'
import type { Totals } from '../totals.ts'
import { ofOrg, orgOfWorkspace } from '../workspaces/names.ts'
import { boundedSearch } from './bounded-search.ts'
import { contains, has, isLastRun, isOneOf, where } from './condition.ts'
import { sortedPage, SORTED_LETTERS, type SortKey, type SortRequest } from './sorted.ts'
import type { Tables } from '../tables.ts'
import { firstRow } from '../rows.ts'

export interface VulnerabilityFilter {
  /** One of them. */
  readonly workspaces?: readonly string[]
  readonly severities?: readonly Severity[]
  readonly confidences?: readonly Confidence[]
  readonly assetTypes?: readonly string[]
  /** Part of the value, case-insensitive. */
  readonly assetValue?: string
  /** Part of title, identifier or asset, case-insensitive. */
  readonly search?: string
  readonly tag?: string
  /** Found, or found again, after this time. */
  readonly newSince?: Date
  readonly state?: FindingState
  readonly seen?: readonly Seen[]
  readonly verdicts?: readonly Verdict[]
  /** Whether a scan has seen it again after a fix was claimed. */
  readonly isBack?: boolean
  readonly assignee?: string
  readonly source?: string
  /** The run that saw it last. */
  readonly runUuid?: string
  readonly org?: string
  /** The identifier, or the title of a finding without one. */
  readonly check?: string
  /** The host of its place. */
  readonly host?: string
  /** Whether one of its CVEs is known to be exploited. */
  readonly isExploited?: boolean
  readonly minEpss?: number
}

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

export const conditionsOf = (filter: VulnerabilityFilter): RawBuilder<unknown>[] => [
  ...isOneOf('workspace', filter.workspaces),
  ...isOneOf('severity', filter.severities),
  ...isOneOf('confidence', filter.confidences),
  ...isOneOf('asset_type', filter.assetTypes),
  ...isOneOf('state', filter.state === undefined ? undefined : [filter.state]),
  ...isOneOf('seen', filter.seen),
  ...isOneOf('verdict', filter.verdicts),
  ...(filter.isBack === undefined ? [] : [filter.isBack ? sql`back_at is not null` : sql`back_at is null`]),
  ...isOneOf('assignee', filter.assignee === undefined ? undefined : [filter.assignee]),
  ...(filter.isExploited === undefined ? [] : [filter.isExploited ? sql`kev` : sql`not kev`]),
  ...(filter.minEpss === undefined ? [] : [sql`epss >= ${filter.minEpss}`]),
  ...isOneOf('source', filter.source === undefined ? undefined : [filter.source]),
  ...isLastRun('vulnerability', filter.runUuid),
  ...ofOrg(sql`workspace`, filter.org),
  ...(filter.newSince === undefined ? [] : [sql`opened_at > ${filter.newSince}`]),
  ...has('tags', filter.tag),
  ...contains(TEXT, filter.search),
  // The first of them is what the index serves.
  ...contains(TEXT, filter.assetValue),
  ...contains(sql`asset_value`, filter.assetValue),
  ...contains(TEXT, filter.check),
  ...(filter.check === undefined || filter.check === '' ? [] : [sql`${CHECK} = ${storable(filter.check)}`]),
  ...contains(TEXT, filter.host),
  ...(filter.host === undefined || filter.host === ''
    ? []
    : [sql`${HOST} = lower(${storable(filter.host)})`]),
]

export const totalOf = (db: Kysely<Tables>, totals: Totals, filter: VulnerabilityFilter): Promise<number> =>
  totals.of(`vulnerabilities ${JSON.stringify(Object.entries(filter).sort())}`, () =>
    boundedSearch(db, searchOf(filter), (on) =>
      countOf(on, sql`from vulnerabilities ${where(conditionsOf(filter))}`),
    ),
  )

/** The longest part decides whether the index serves the search. */
export const searchOf = ({ assetValue = '', search = '', check = '', host = '' }: VulnerabilityFilter) => {
  const parts = Object.entries({ search, asset_value: assetValue, check, host }).filter(
    ([, part]) => part !== '',
  )
  const [longest] = parts.sort(([, a], [, b]) => b.length - a.length)
  return { part: longest?.[1], parameter: longest?.[0] ?? 'search' }
}

/** Page of findings, newest first unless sorted. */
export async function listVulnerabilities(
  db: Kysely<Tables>,
  totals: Totals,
  filter: VulnerabilityFilter,
  { sort, ...page }: SortRequest<VulnerabilitySort>,
): Promise<PageOf<Vulnerability>> {
  if (sort !== undefined) {
    const total = await totalOf(db, totals, filter)
    const list = {
      keys: SORT_KEYS,
      table: sql`vulnerabilities v`,
      source: { ...SOURCE, columns: COLUMNS },
      conditions: conditionsOf(filter),
      search: searchOf(filter),
      total,
    }
    return sortedPage(db, list, page, sort)
  }
  const below = page.cursor === undefined ? undefined : decodeCursor(page.cursor)
  const bounds = { below, offset: below === undefined ? page.offset : 0, limit: page.limit }
  const [total, found] = await Promise.all([
    totalOf(db, totals, filter),
    boundedSearch(db, searchOf(filter), (on) => pageOfVulnerabilities(on, filter, bounds)),
  ])
  return pageOf(found, { total, limit: page.limit })
}

export async function pageOfVulnerabilities(
  db: Kysely<Tables>,
  filter: VulnerabilityFilter,
  { below, offset, limit }: { below: number | undefined; offset: number; limit: number },
): Promise<PageRows<Vulnerability>> {
  const conditions = conditionsOf(filter)
  if (below !== undefined) conditions.push(sql`id < ${below}`)
  return vulnerabilitiesOf(
    db,
    sql`select id from vulnerabilities ${where(conditions)} order by id desc limit ${limit} offset ${offset}`,
  )
}

export const vulnerabilitiesOf = (
  db: Kysely<Tables>,
  ids: RawBuilder<unknown>,
  ascending = false,
): Promise<PageRows<Vulnerability>> => readPage(db, { ...SOURCE, ids, ascending, columns: COLUMNS })

const SOURCE = {
  from: sql`(vulnerabilities v ${RUNS})`,
  id: sql`v.id`,
  // The record of the scanner repeats request and response.
  bytes: sql`octet_length(v.vuln_title) + octet_length(v.vuln_desc) + octet_length(v.vuln_poc)
    + octet_length(v.asset_value) + octet_length(v.tags::text) + octet_length(v.raw_vuln_json)
    + 2 * (octet_length(v.detail_http_request) + octet_length(v.detail_http_response))`,
}

export async function findVulnerability(db: Kysely<Tables>, id: number): Promise<Vulnerability | undefined> {
  return await firstRow(db)<Vulnerability>`
    select ${COLUMNS} from vulnerabilities v ${RUNS} where v.id = ${id}
  `
}
