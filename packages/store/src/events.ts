import { sql, type Kysely, type RawBuilder } from 'kysely'
import { decodeCursor } from './cursor.ts'
import { topicCondition } from './events/topic-condition.ts'
import { pageOf, readPage, type PageRows } from './page.ts'
import type { EventFilter, EventLogEntry, Events, PageOf, PageRequest } from './store.ts'
import { canBeStored } from './text.ts'
import type { Totals } from './totals.ts'

export const makeEvents = (db: Kysely<unknown>, totals: Totals): Events => ({
  list: (filter, page) => list(db, totals, filter, page),
  prune: async (days) => {
    const { numAffectedRows = 0n } = await sql`
      delete from event_logs where id in (
        select id from (select id, created_at from event_logs order by id limit ${PRUNE_BATCH}) oldest
        where created_at < now() - ${days} * interval '1 day')
    `.execute(db)
    return Number(numAffectedRows)
  },
  dropRanges: async (days) => {
    const { rows } = await sql<{
      dropped: number
    }>`select drop_unused_partitions(${days}) as dropped`.execute(db)
    return rows[0]?.dropped ?? 0
  },
})

/** Entries looked at in one go: a short transaction, however long nobody has pruned. */
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
  // Written so that the partial index on what is not processed can serve it.
  if (filter.processed !== undefined) conditions.push(filter.processed ? sql`processed` : sql`not processed`)
  return conditions
}

const where = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`

const list = async (
  db: Kysely<unknown>,
  totals: Totals,
  filter: EventFilter,
  page: PageRequest,
): Promise<PageOf<EventLogEntry>> => {
  const [total, rows] = await Promise.all([
    totals.of(`events ${JSON.stringify(Object.entries(filter).sort())}`, () => countEvents(db, filter)),
    pageOfEvents(db, filter, page),
  ])
  return pageOf(rows, { total, limit: page.limit, idOf: (row) => row.id, item: (row) => row })
}

const countEvents = async (db: Kysely<unknown>, filter: EventFilter): Promise<number> => {
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from event_logs ${where(conditionsOf(filter))}
  `.execute(db)
  return rows[0]?.total ?? 0
}

const pageOfEvents = async (
  db: Kysely<unknown>,
  filter: EventFilter,
  page: PageRequest,
): Promise<PageRows<EventLogEntry>> => {
  const conditions = conditionsOf(filter)
  if (page.cursor !== undefined) conditions.push(sql`id < ${decodeCursor(page.cursor)}`)
  const offset = page.cursor === undefined ? page.offset : 0
  return readPage(db, {
    ids: sql`select id from event_logs ${where(conditions)} order by id desc limit ${page.limit} offset ${offset}`,
    from: sql`event_logs e`,
    id: sql`e.id`,
    bytes: sql`octet_length(data) + octet_length(error) + octet_length(name) + octet_length(topic)`,
    columns: sql`e.id, topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name, processed,
                 processed_at, error, created_at`,
  })
}
