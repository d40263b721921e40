import type { Asset, AssetContent, AssetStats, FindingState, ImportSummary } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { byteas, itemsOf } from '../findings/import-item.ts'
import { importItems } from '../findings/import-items.ts'
import { SaveQueues } from '../findings/save-queues.ts'
import { boundedSearch } from '../findings/bounded-search.ts'
import { FACET_RECORDS, FACET_VALUES, facetsOf, type FacetRow, type Facets } from '../findings/facets.ts'
import {
  conditionsBy,
  contains,
  has,
  isLastRun,
  isOneOf,
  oneOf,
  where,
  type ValuesOf,
} from '../findings/condition.ts'
import { makeRecordList } from '../findings/record-list.ts'
import { SORTED_LETTERS, type SortKey } from '../findings/sorted.ts'
import { canBeStored, storable } from '../text.ts'
import type { Totals } from '../totals.ts'
import type { Tables } from '../tables.ts'
import { ofOrg, orgOfWorkspace } from '../workspaces/names.ts'

/** Most values of each kind in the stats. */
const MAX_STATS = 1_000

const SORT_KEYS = {
  asset: {
    key: sql`lower(left(coalesce(nullif(a.url, ''), a.asset_value), ${SORTED_LETTERS}))`,
    type: 'text',
  },
  type: { key: sql`left(a.asset_type, ${SORTED_LETTERS})`, type: 'text' },
  title: { key: sql`lower(left(a.title, ${SORTED_LETTERS}))`, type: 'text' },
  status: { key: sql`a.status_code`, type: 'bigint' },
  workspace: { key: sql`left(a.workspace, ${SORTED_LETTERS})`, type: 'text' },
  last_seen: {
    key: sql`(select (extract(epoch from s.last_seen) * 1e6)::bigint from asset_sightings s where s.asset_id = a.id)`,
    type: 'bigint',
  },
} as const satisfies Record<string, SortKey>
export type AssetSort = keyof typeof SORT_KEYS
export const ASSET_SORTS = Object.keys(SORT_KEYS) as AssetSort[]

export const ASSET_FACETS = [
  'state',
  'workspace',
  'asset_type',
  'source',
  'status_code',
  'technology',
  'port',
] as const
type AssetFacet = (typeof ASSET_FACETS)[number]

export const makeAssets = (db: Kysely<Tables>, totals: Totals) => ({
  ...makeRecordList<Asset, AssetFilter, AssetSort>(db, totals, {
    name: 'assets',
    alias: 'a',
    keys: SORT_KEYS,
    conditionsOf,
    searchOf,
    few: 10_000,
    from: sql`(assets a ${RUNS})`,
    id: sql`a.id`,
    bytes: sql`octet_length(a.asset_value) + octet_length(a.url) + octet_length(a.title)
      + octet_length(a.technologies::text) + octet_length(a.open_ports::text) + octet_length(a.dns_records::text)
      + octet_length(a.remarks::text) + octet_length(a.raw_json_data::text)`,
    columns: COLUMNS,
  }),
  /** Like the import of vulnerabilities; the identity is (workspace, asset_value, url). */
  import: (
    workspace: string,
    source: string,
    items: readonly AssetContent[],
    queues = new SaveQueues(),
  ): Promise<ImportSummary> =>
    importItems(db, items, queues, (half) => {
      const { contents, json } = itemsOf(workspace, source, { kind: 'asset', items: half })
      return {
        see: sql`see_known_assets(${byteas(contents)}::bytea[])`,
        save: () => sql`import_assets(${storable(workspace)}, ${json()}::jsonb, ${source}, null, null)`,
      }
    }),
  /** How often each value occurs among the newest assets of a filter, the most frequent first. */
  facets: (filter: AssetFilter): Promise<Facets<AssetFacet>> =>
    totals.group(
      `asset facets ${JSON.stringify(Object.entries(filter).sort())}`,
      () => countFacets(db, filter),
      ({ counted }) => counted,
    ),
  async stats(workspaces: readonly string[] | undefined): Promise<AssetStats> {
    const condition = where(isOneOf('workspace', workspaces))
    const words = async (expression: RawBuilder<unknown>): Promise<string[]> => {
      const { rows } = await sql<{ word: string }>`
        select word from (select distinct ${expression} as word from assets ${condition}) w
        where word <> '' order by word limit ${MAX_STATS}
      `.execute(db)
      return rows.map(({ word }) => word)
    }
    const [technologies, sources, remarks, asset_types] = await Promise.all([
      words(sql`unnest(technologies)`),
      words(sql`source`),
      words(sql`unnest(remarks)`),
      words(sql`asset_type`),
    ])
    return { technologies, sources, remarks, asset_types }
  },
})

/** Fields of tools like httpx without columns. Patterns read them, since the text may be invalid JSON. */
const number = (name: string) =>
  sql`coalesce(substring(raw_json_data from ${`"${name}":\\s*(\\d{1,15})`}::text)::bigint, 0)`
const word = (name: string) =>
  sql`coalesce(substring(raw_json_data from ${`"${name}":\\s*"([^"\\\\]*)"`}::text), '')`

const COLUMNS = sql`
  a.technologies as tech, ${number('content_length')} as content_length, ${number('words')} as words,
  ${number('lines')} as lines, ${word('tls_version')} as tls, ${word('time')} as time, ${word('method')} as method,
  ${word('input')} as input, coalesce(substring(a.url from '^[^:/?#]+://[^/?#]*(/[^?#]*)'), '') as path,
  a.id, a.workspace, ${orgOfWorkspace(sql`a.workspace`)} as org_uuid, a.asset_type, a.asset_value, a.url, a.host_ip, a.scheme, a.status_code, a.title, a.content_type,
  a.technologies, a.open_ports, a.dns_records, a.remarks, a.raw_json_data, a.state, a.first_seen, t.last_seen,
  t.last_seen as last_seen_at, t.times_seen, a.gone_at, coalesce(f.run_uuid::text, '') as first_run_uuid,
  coalesce(l.run_uuid::text, '') as run_uuid, a.source, a.created_at, a.updated_at`
const RUNS = sql`
  join asset_sightings t on t.asset_id = a.id
  left join runs f on f.id = a.first_run left join runs l on l.id = t.last_run`

const overlaps = (column: string, values: readonly string[]): RawBuilder<unknown>[] => [
  sql`${sql.ref(column)} && ${values.filter(canBeStored)}::text[]`,
]

/** A port without a protocol matches every protocol. */
const portNames = (port: string): string[] =>
  /^\d+$/.test(port) ? [port, `${port}/tcp`, `${port}/udp`] : [port]

const anyOf = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown>[] =>
  conditions.length === 0 ? [] : [sql`(${sql.join(conditions, sql` or `)})`]

/** The same expression as in the index. */
const TEXT = sql`(asset_value || ' ' || url || ' ' || title)`
const HOST = sql`host_of(coalesce(nullif(url, ''), asset_value))`

const isAtHost = (given: string): RawBuilder<unknown>[] => {
  if (given === '') return []
  const host = sql`lower(${storable(given)})`
  return [
    sql`(host_ip = ${host} and host_ip <> '' or ${sql.join(contains(TEXT, given), sql` and `)}
         and asset_type not in ('file', 'package', 'network') and ${HOST} = ${host})`,
  ]
}

const FILTERS = {
  workspace: oneOf('workspace'),
  asset_type: oneOf('asset_type'),
  state: (state: FindingState) => isOneOf('state', [state]),
  source: oneOf('source'),
  status_code: (codes: readonly number[]) => [sql`status_code = any(${codes}::int[])`],
  technology: (technology: string) => has('technologies', technology),
  /** One of them. */
  tech: (technologies: readonly string[]) => overlaps('technologies', technologies),
  remarks: (remarks: readonly string[]) => overlaps('remarks', remarks),
  port: (port: string) => overlaps('open_ports', portNames(port)),
  /** Parts, case-insensitive, of which one matches. */
  content_type: (types: readonly string[]) =>
    anyOf(types.flatMap((type) => contains(sql`content_type`, type))),
  /** Part of value, URL or address, case-insensitive. */
  location: (part: string) => contains(sql`(asset_value || ' ' || url || ' ' || host_ip)`, part),
  tls: (version: string) => [sql`${word('tls_version')} = ${storable(version)}`],
  /** Bytes of the body as reported by the tool; 0 if missing. */
  min_content_length: (bytes: number) => [sql`${number('content_length')} >= ${bytes}`],
  max_content_length: (bytes: number) => [sql`${number('content_length')} <= ${bytes}`],
  run_id: (uuid: string) => isLastRun('asset', uuid),
  /** Found, or found again, after this time. */
  new_since: (time: Date) => [sql`opened_at > ${time}`],
  org: (org: string) => ofOrg(sql`workspace`, org),
  /** Part of value, URL or title, case-insensitive. */
  search: (part: string) => contains(TEXT, part),
  /** A name or an address: that of its place, or its address. */
  host: isAtHost,
}
export type AssetFilter = ValuesOf<typeof FILTERS>

export const conditionsOf = conditionsBy(FILTERS)

const searchOf = ({ search = '', host = '' }: AssetFilter) =>
  search.length < host.length
    ? { part: host, parameter: 'host' }
    : { part: search === '' ? undefined : search, parameter: 'search' }

const countFacets = (db: Kysely<Tables>, filter: AssetFilter): Promise<Facets<AssetFacet>> =>
  boundedSearch(db, searchOf(filter), async (on) => {
    const { rows } = await sql<FacetRow<AssetFacet>>`
      with found as materialized (
        select state, workspace, asset_type, source, status_code::text as status_code, technologies, open_ports
        from assets ${where(conditionsOf(filter))} order by id desc limit ${FACET_RECORDS}
      ), grouped as (
        select case when grouping(state) = 0 then 'state' when grouping(workspace) = 0 then 'workspace'
                    when grouping(asset_type) = 0 then 'asset_type' when grouping(source) = 0 then 'source'
                    when grouping(status_code) = 0 then 'status_code' else 'counted' end as facet,
               coalesce(state, workspace, asset_type, source, status_code, '') as value, count(*) as count
        from found
        group by grouping sets ((state), (workspace), (asset_type), (source), (status_code), ())
        union all
        select 'technology', left(value, 512), count(*) from found, unnest(technologies) value group by 2
        union all
        select 'port', left(value, 512), count(*) from found, unnest(open_ports) value group by 2
      )
      select facet, value, count from (
        select *, row_number() over (partition by facet order by count desc, value) as n from grouped) ranked
      where n <= ${FACET_VALUES} order by facet, n
    `.execute(on)
    return facetsOf(ASSET_FACETS, rows)
  })
