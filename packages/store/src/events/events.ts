import { isTopicGlob, topicGlobSql, type EventLogEntry } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { conditionsBy, is, type ValuesOf } from '../findings/condition.ts'
import { newestFirst, type PageOf, type PageRequest } from '../page.ts'
import { canBeStored } from '../text.ts'
import type { Totals } from '../totals.ts'
import type { Tables } from '../tables.ts'
import { changedRows, firstValue } from '../rows.ts'

/** Whether the column `topic` equals this topic or matches this shell glob. */
export const topicCondition = (topic: string): RawBuilder<boolean> =>
  isTopicGlob(topic) ? sql`topic ~ ${topicGlobSql(topic)}` : sql`topic = ${topic}`

const FILTERS = {
  /** A topic, or a shell glob over topics. */
  topic: (topic: string) => [canBeStored(topic) ? topicCondition(topic) : sql`false`],
  name: is('name'),
  source: is('source'),
  workspace: is('workspace'),
  runId: is('run_id'),
  workflowName: is('workflow_name'),
  // In this form the partial index on unprocessed events applies.
  processed: (processed: boolean) => [processed ? sql`processed` : sql`not processed`],
}
export type EventFilter = ValuesOf<typeof FILTERS>

const conditionsOf = conditionsBy(FILTERS)

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
