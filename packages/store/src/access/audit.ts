import type { AuditEntry, Role } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { decodeCursor, encodeCursor, type PageOf, type PageRequest } from '../page.ts'
import { canBeStored, storable } from '../text.ts'
import type { Totals } from '../totals.ts'
import type { Tables } from '../tables.ts'

export interface Change {
  readonly kind: 'user' | 'token'
  readonly callerId: number
  readonly caller: string
  readonly role: Role
  readonly method: string
  /** Pattern of the route: `/users/{id}`. */
  readonly route: string
  /** The path with its ids. */
  readonly path: string
  readonly status: number
}

export interface AuditFilter {
  readonly caller?: string
  readonly method?: string
  /** Part of the path. */
  readonly path?: string
  readonly since?: Date
  readonly until?: Date
}

export const KEEP_AUDIT_DAYS = 90
export const MAX_AUDIT_ENTRIES = 1_000_000
const MAX_PATH = 500
/** Entries deleted in one turn. */
const PRUNE_ENTRIES = 100_000

const COLUMNS = sql.raw('id, at, kind, caller_id, caller, role, method, route, path, status')

const conditionOf = ({ caller, method, path, since, until }: AuditFilter) =>
  sql.join(
    [
      sql`true`,
      ...(caller === undefined ? [] : [sql`caller = ${caller}`]),
      ...(method === undefined ? [] : [sql`method = ${method}`]),
      ...(path === undefined ? [] : [sql`strpos(path, ${path}) > 0`]),
      ...(since === undefined ? [] : [sql`at >= ${since}`]),
      ...(until === undefined ? [] : [sql`at < ${until}`]),
    ],
    sql` and `,
  )

export const makeAudit = (db: Kysely<Tables>, totals: Totals) => ({
  add: async ({ kind, callerId, caller, role, method, route, path, status }: Change): Promise<void> => {
    const shortPath = storable(path.slice(0, MAX_PATH))
    await db
      .insertInto('audit_log')
      .values({ kind, caller_id: callerId, caller, role, method, route, path: shortPath, status })
      .execute()
  },
  /** Newest first. */
  list: async (filter: AuditFilter, { limit, offset, cursor }: PageRequest): Promise<PageOf<AuditEntry>> => {
    const none = { data: [], total: 0, nextCursor: undefined, truncated: false }
    if (!canBeStored(`${filter.caller ?? ''}${filter.path ?? ''}`)) return none
    const condition = conditionOf(filter)
    const before = cursor === undefined ? sql`true` : sql`id < ${decodeCursor(cursor)}`
    const count = async () =>
      (await sql<{ total: number }>`select count(*) as total from audit_log where ${condition}`.execute(db))
        .rows[0]?.total ?? 0
    const [total, { rows }] = await Promise.all([
      totals.of(`audit ${JSON.stringify(filter)}`, count),
      sql<AuditEntry>`
        select ${COLUMNS} from audit_log where ${condition} and ${before} order by id desc
        limit ${limit} offset ${cursor === undefined ? offset : 0}
      `.execute(db),
    ])
    const last = rows.at(-1)
    return {
      data: rows,
      total,
      nextCursor: last && rows.length === limit ? encodeCursor(last.id) : undefined,
      // Rows are small.
      truncated: false,
    }
  },
  /** Deletes old entries. Returns their number. */
  prune: async (): Promise<number> => {
    const { numAffectedRows } = await sql`
      delete from audit_log where id in (
        (select id from audit_log where at < now() - ${KEEP_AUDIT_DAYS} * interval '1 day' order by at limit ${PRUNE_ENTRIES})
        union all
        (select id from audit_log where id <= (select max(id) from audit_log) - ${MAX_AUDIT_ENTRIES}
         order by id limit ${PRUNE_ENTRIES}))
    `.execute(db)
    return Number(numAffectedRows ?? 0)
  },
})
