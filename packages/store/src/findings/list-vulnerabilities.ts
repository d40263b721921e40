import type { Vulnerability } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { decodeCursor, encodeCursor } from '../cursor.ts'
import type { PageOf, PageRequest, VulnerabilityFilter } from '../store.ts'
import type { Totals } from '../totals.ts'
import { boundedSearch } from './bounded-search.ts'
import { contains, isOneOf, isRun, where } from './condition.ts'

/** Columns of a record `v`, joined with its first and last run. */
const COLUMNS = sql`
  v.id, v.workspace, v.vuln_info, v.vuln_title, v.vuln_desc, v.vuln_poc, v.severity, v.confidence, v.asset_type,
  v.asset_value, v.tags, v.detail_http_request, v.detail_http_response, v.raw_vuln_json,
  coalesce(encode(v.finding_hash, 'hex'), '') as finding_hash, v.state, v.first_seen, v.last_seen,
  v.last_seen as last_seen_at, v.times_seen, v.gone_at, coalesce(f.run_uuid::text, '') as first_run_uuid,
  coalesce(l.run_uuid::text, '') as run_uuid, v.source, v.created_at, v.updated_at`
const RUNS = sql`left join runs f on f.id = v.first_run left join runs l on l.id = v.last_run`

const conditionsOf = (filter: VulnerabilityFilter): RawBuilder<unknown>[] => [
  ...isOneOf('workspace', filter.workspaces),
  ...isOneOf('severity', filter.severities),
  ...isOneOf('confidence', filter.confidences),
  ...isOneOf('asset_type', filter.assetTypes),
  ...isOneOf('state', filter.state === undefined ? undefined : [filter.state]),
  ...isOneOf('source', filter.source === undefined ? undefined : [filter.source]),
  ...isRun('last_run', filter.runUuid),
  ...contains(sql`asset_value`, filter.assetValue),
]

export const totalOf = (db: Kysely<unknown>, totals: Totals, filter: VulnerabilityFilter): Promise<number> =>
  totals.of(`vulnerabilities ${JSON.stringify(Object.entries(filter).sort())}`, () =>
    boundedSearch(db, searchOf(filter), async (on) => {
      const { rows } = await sql<{ total: number }>`
        select count(*) as total from vulnerabilities ${where(conditionsOf(filter))}
      `.execute(on)
      return rows[0]?.total ?? 0
    }),
  )

const searchOf = ({ assetValue }: VulnerabilityFilter) => ({ part: assetValue, parameter: 'asset_value' })

/** Page of findings, newest first. */
export async function listVulnerabilities(
  db: Kysely<unknown>,
  totals: Totals,
  filter: VulnerabilityFilter,
  page: PageRequest,
): Promise<PageOf<Vulnerability>> {
  const below = page.cursor === undefined ? undefined : decodeCursor(page.cursor)
  const bounds = { below, offset: below === undefined ? page.offset : 0, limit: page.limit }
  const [total, data] = await Promise.all([
    totalOf(db, totals, filter),
    boundedSearch(db, searchOf(filter), (on) => pageOfVulnerabilities(on, filter, bounds)),
  ])
  const last = data.at(-1)
  return {
    data,
    total,
    nextCursor: last && data.length === page.limit ? encodeCursor(last.id) : undefined,
  }
}

/** Ids first, then their rows: the rows are wide, and those of an offset are never looked at. */
export async function pageOfVulnerabilities(
  db: Kysely<unknown>,
  filter: VulnerabilityFilter,
  { below, offset, limit }: { below: number | undefined; offset: number; limit: number },
): Promise<Vulnerability[]> {
  const conditions = conditionsOf(filter)
  if (below !== undefined) conditions.push(sql`id < ${below}`)
  const { rows } = await sql<Vulnerability>`
    select ${COLUMNS}
    from (select id from vulnerabilities ${where(conditions)} order by id desc limit ${limit} offset ${offset}) ids
    join vulnerabilities v on v.id = ids.id ${RUNS}
    order by v.id desc
  `.execute(db)
  return rows
}

export async function findVulnerability(db: Kysely<unknown>, id: number): Promise<Vulnerability | undefined> {
  const { rows } = await sql<Vulnerability>`
    select ${COLUMNS} from vulnerabilities v ${RUNS} where v.id = ${id}
  `.execute(db)
  return rows[0]
}
