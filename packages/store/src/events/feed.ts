import { sql, type Kysely } from 'kysely'
import type { EventLogEntry } from '@scanfarm/contracts'
import { topicCondition, type EventFilter } from './events.ts'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

/** A position in the event log in commit order; text, since streams use it as the id of an event. */
export type FeedPosition = string

/** Default size of a page. */
const FEED_BYTES = 1024 * 1024
/** Most entries that one read compares with a filter. */
const FILTERED_AT_ONCE = 5_000

const POSITION = /^(\d{1,19})-(\d{1,15})$/

export interface FeedEntry extends EventLogEntry {
  readonly position: FeedPosition
}

export interface FeedPage {
  readonly entries: readonly FeedEntry[]
  /** The position to continue from, after all entries that the filter excluded. */
  readonly next: FeedPosition
  /** The page is full: there may be entries after `next`. */
  readonly more: boolean
}

export interface FeedRead {
  readonly after: FeedPosition
  readonly limit: number
  /** Most bytes of data; one entry is always returned. Default 1 MiB. */
  readonly maxBytes?: number
  readonly filter?: FeedFilter
}

export type FeedFilter = Pick<EventFilter, 'topic' | 'workspace' | 'runId' | 'workflowName'>

export const isFeedPosition = (text: string): boolean => POSITION.test(text)

export const makeFeed = (db: Kysely<Tables>) => ({
  /** The position before all transactions that are still open: reading from here misses no later entry. */
  end: (): Promise<FeedPosition> => firstValue(db, '0-0')`
      select pg_snapshot_xmin(pg_current_snapshot()) || '-0' as position
    `,
  /**
   * Entries after a position, in the order of their transactions. Entries that an open transaction could still precede
   * are withheld, so that no entry appears before a position that was read. Positions of another database, for example
   * after a restore, count as the end.
   */
  read: async ({ after, limit, maxBytes = FEED_BYTES, filter = {} }: FeedRead): Promise<FeedPage> => {
    const [, tx = '0', id = '0'] = POSITION.exec(after) ?? []
    const { topic, workspace = null, runId = null, workflowName = null } = filter
    const most = Object.values(filter).some((value) => value !== undefined) ? FILTERED_AT_ONCE : limit
    const { rows } = await sql<FeedRow>`
      with s as materialized (select pg_snapshot_xmin(pg_current_snapshot()) as horizon),
      seen as materialized (
        select e.* from s cross join lateral (
          select tx, id, octet_length(data) as bytes,
                 (${topic === undefined ? sql`true` : topicCondition(topic)})
                 and (${workspace}::text is null or workspace = ${workspace})
                 and (${runId}::text is null or run_id = ${runId})
                 and (${workflowName}::text is null or workflow_name = ${workflowName}) as wanted
          from event_logs
          where (tx, id) > (least(${tx}::xid8, s.horizon), ${Number(id)}::bigint) and tx < s.horizon
          order by tx, id limit ${most}
        ) e
      ),
      wanted as (
        select id, row_number() over (order by tx, id) as n, sum(bytes) over (order by tx, id) as up_to
        from seen where wanted
      ),
      fitting as (select id from wanted where n = 1 or (n <= ${limit} and up_to <= ${maxBytes}))
      select s.horizon || '-0' as horizon, (select count(*) from seen) as seen, (select count(*) from wanted) as wanted,
             (select tx || '-' || id from seen order by tx desc, id desc limit 1) as last_seen, e.*
      from s left join (
        select e.tx || '-' || e.id as position, e.id, topic, event_id, name, source, data_type, data, workspace, run_id,
               workflow_name, processed, processed_at, error, created_at, e.tx as order_tx
        from fitting join event_logs e on e.id = fitting.id
      ) e on true order by e.order_tx, e.id
    `.execute(db)
    const [first] = rows
    if (first === undefined) return { entries: [], next: after, more: false }
    const entries = rows.filter(({ position }) => position !== null).map(entryOf)
    const last = entries.at(-1)
    if (last !== undefined && entries.length < first.wanted)
      return { entries, next: last.position, more: true }
    const more = first.seen === most
    return { entries, next: (more ? first.last_seen : null) ?? first.horizon, more }
  },
})

interface FeedRow extends FeedEntry {
  readonly horizon: string
  readonly seen: number
  readonly wanted: number
  readonly last_seen: string | null
  readonly order_tx: string
}

const entryOf = ({
  horizon: _,
  seen: _s,
  wanted: _w,
  last_seen: _l,
  order_tx: _o,
  ...entry
}: FeedRow): FeedEntry => entry
