import { sql, type Kysely } from 'kysely'
import type { EventFilter, EventLogEntry } from '../store.ts'

/** A place in the event log in the order of commitment; text, so that it can be an event's id in a stream. */
export type FeedPosition = string

const POSITION = /^(\d{1,19})-(\d{1,15})$/

export interface FeedEntry extends EventLogEntry {
  readonly position: FeedPosition
}

export interface FeedPage {
  readonly entries: readonly FeedEntry[]
  /** Where to read on; entries that the filter left out are behind it. */
  readonly next: FeedPosition
}

export interface Feed {
  /** Where what is not committed yet begins: reading on from here misses nothing that comes and repeats nothing. */
  end(): Promise<FeedPosition>
  /**
   * Entries after a position, in the order of their transactions. Only what no transaction under way can precede any
   * more is told, so that nothing ever appears behind a position that was read. Positions of another database, as
   * after a restore, count as the end.
   */
  read(options: { after: FeedPosition; limit: number; filter?: FeedFilter }): Promise<FeedPage>
}

export type FeedFilter = Pick<EventFilter, 'topic' | 'workspace' | 'runId' | 'workflowName'>

export const isFeedPosition = (text: string): boolean => POSITION.test(text)

export const makeFeed = (db: Kysely<unknown>): Feed => ({
  end: async () => {
    const { rows } = await sql<{ position: string }>`
      select pg_snapshot_xmin(pg_current_snapshot()) || '-0' as position
    `.execute(db)
    return rows[0]?.position ?? '0-0'
  },
  read: async ({ after, limit, filter = {} }) => {
    const [, tx = '0', id = '0'] = POSITION.exec(after) ?? []
    const { topic = null, workspace = null, runId = null, workflowName = null } = filter
    const { rows } = await sql<FeedEntry & { horizon: string }>`
      with s as materialized (select pg_snapshot_xmin(pg_current_snapshot()) as horizon)
      select s.horizon || '-0' as horizon, e.* from s left join lateral (
        select tx || '-' || id as position, id, topic, event_id, name, source, data_type, data, workspace, run_id,
               workflow_name, processed, processed_at, error, created_at
        from event_logs
        where (tx, id) > (least(${tx}::xid8, s.horizon), ${Number(id)}::bigint) and tx < s.horizon
          and (${topic}::text is null or topic = ${topic})
          and (${workspace}::text is null or workspace = ${workspace})
          and (${runId}::text is null or run_id = ${runId})
          and (${workflowName}::text is null or workflow_name = ${workflowName})
        order by tx, id limit ${limit}
      ) e on true
    `.execute(db)
    const entries = rows.filter(({ position }) => position !== null).map(withoutHorizon)
    const [first] = rows
    const last = entries.at(-1)
    return { entries, next: last && entries.length === limit ? last.position : (first?.horizon ?? after) }
  },
})

const withoutHorizon = ({ horizon: _, ...entry }: FeedEntry & { horizon: string }): FeedEntry => entry
