import type { AuditEntry } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { conditionsBy, is, type ValuesOf } from '../findings/condition.ts'
import { newestFirst, type PageOf, type PageRequest } from '../page.ts'
import { canBeStored, storable } from '../text.ts'
import type { Totals } from '../totals.ts'
import type { Tables } from '../tables.ts'
import { changedRows } from '../rows.ts'

/** A request that changed something. */
export type Change = Omit<AuditEntry, 'id' | 'at'>

export const KEEP_AUDIT_DAYS = 90
export const MAX_AUDIT_ENTRIES = 1_000_000
const MAX_PATH = 500
/** Entries deleted in one turn. */
const PRUNE_ENTRIES = 100_000

const COLUMNS = sql.raw('id, at, kind, caller_id, caller, role, method, route, path, status')

const FILTERS = {
  caller: is('caller'),
  method: is('method'),
  /** Part of the path. */
  path: (part: string) => [canBeStored(part) ? sql`strpos(path, ${part}) > 0` : sql`false`],
  since: (time: Date) => [sql`at >= ${time}`],
  until: (time: Date) => [sql`at < ${time}`],
}
type AuditFilter = ValuesOf<typeof FILTERS>

const conditionsOf = conditionsBy(FILTERS)

export const makeAudit = (db: Kysely<Tables>, totals: Totals) => ({
  add: async (change: Change): Promise<void> => {
    const path = storable(change.path.slice(0, MAX_PATH))
    await db
      .insertInto('audit_log')
      .values({ ...change, path })
      .execute()
  },
  /** Newest first. */
  list: (filter: AuditFilter, page: PageRequest): Promise<PageOf<AuditEntry>> =>
    newestFirst(db, page, {
      from: sql`audit_log a`,
      id: sql`a.id`,
      conditions: conditionsOf(filter),
      columns: COLUMNS,
      total: (count) => totals.of(`audit ${JSON.stringify(filter)}`, count),
    }),
  /** Deletes old entries. Returns their number. */
  prune: (): Promise<number> => changedRows(db)`
      delete from audit_log where id in (
        (select id from audit_log where at < now() - ${KEEP_AUDIT_DAYS} * interval '1 day' order by at limit ${PRUNE_ENTRIES})
        union all
        (select id from audit_log where id <= (select max(id) from audit_log) - ${MAX_AUDIT_ENTRIES}
         order by id limit ${PRUNE_ENTRIES}))
    `,
})
