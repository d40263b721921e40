import { isTopicGlob, topicGlobSql, type EventLogEntry } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { newestFirst, type PageOf, type PageRequest } from '../page.ts'
import { canBeStored } from '../text.ts'
import type { Totals } from '../totals.ts'
import type { Tables } from '../tables.ts'
import { changedRows, firstValue } from '../rows.ts'

export interface EventFilter {
  /** A topic, or a shell glob over topics. */
  readonly topic?: string
  readonly name?: string
  readonly source?: string
  readonly workspace?: string
  readonly runId?: string
  readonly workflowName?: string
  readonly processed?: boolean
}

export const makeEvents = (db: Kysely<Tables>, totals: Totals) => ({
  list: (filter: EventFilter, page: PageRequest): Promise<PageOf<EventLogEntry>> =>
    newestFirst(db, page, {
      from: sql`event_logs e`,
      id: sql`e.id`,
      conditions: conditionsOf(filter),
      bytes: sql`octet_length(data) + octet_length(error) + octet_length(name) + octet_length(topic)`,
      columns: sql`e.id, topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name, processed,
                   processed_at, error, created_at`,
      total: (count) => totals.of(`events ${JSON.stringify(Object.entries(filter).sort())}`, count),
    }),
  /** Deletes a bounded number of the oldest entries that are older than `days`; returns how many. */
  prune: (days: number): Promise<number> => changedRows(db)`
      delete from event_logs where id in (
        select id from (select id, created_at from event_logs order by id limit ${PRUNE_BATCH}) oldest
        where created_at < now() - ${days} * interval '1 day')
    `,
  /** Drops ranges whose entries are all older than `days`, which is much cheaper; returns how many. */
  dropRanges: (days: number): Promise<number> =>
    firstValue(db, 0)`select drop_unused_partitions(${days}) as dropped`,
})

/** Entries in one transaction, which stays short even after a long time without pruning. */
const PRUNE_BATCH = 10_000

const COLUMN_OF = {
  topic: 'topic',
  name: 'name',
  source: 'source',
  workspace: 'workspace',
  runId: 'run_id',
  workflowName: 'workflow_name',
} as const satisfies Partial<Record<keyof EventFilter, string>>

const conditionsOf = (filter: EventFilter): RawBuilder<unknown>[] => {
  const conditions = Object.entries(COLUMN_OF).flatMap(([key, column]) => {
    const value = filter[key as keyof typeof COLUMN_OF]
    if (value === undefined) return []
    if (!canBeStored(value)) return [sql`false`]
    return [key === 'topic' ? topicCondition(value) : sql`${sql.ref(column)} = ${value}`]
  })
  // In this form the partial index on unprocessed events applies.
  if (filter.processed !== undefined) conditions.push(filter.processed ? sql`processed` : sql`not processed`)
  return conditions
}

/** Whether the column `topic` equals this topic or matches this shell glob. */
export const topicCondition = (topic: string): RawBuilder<boolean> =>
  isTopicGlob(topic) ? sql`topic ~ ${topicGlobSql(topic)}` : sql`topic = ${topic}`
