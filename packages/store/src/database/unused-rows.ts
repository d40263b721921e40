import { sql, type Kysely, type RawBuilder } from 'kysely'
import { isLockTimeout } from './connection.ts'
import type { Tables } from '../tables.ts'
import { changedRows } from '../rows.ts'

/** Rows that others refer to, and that stay when those are removed. */
export const makeUnusedRows = (db: Kysely<Tables>) => ({
  /**
   * Deletes those of the next `limit` pinned workflows after the hash `after` that no job has. A concurrent submit of one
   * of them waits, and pins it again. `next`: the hash to continue after; undefined: the end.
   */
  removeWorkflows: (after: string, limit: number) => remove(db, { ...WORKFLOWS, after, limit }),
  /** The same for scopes, by id: those without a scan and without a sighting. */
  removeScopes: (after: number, limit: number) => remove(db, { ...SCOPES, after, limit }),
  /** Deletes the marks of workspaces whose last run was removed more than `days` ago. */
  async forgetPrunedWorkspaces(days: number): Promise<number> {
    return await changedRows(db)`
      delete from pruned_workspaces where workspace in (
        select workspace from pruned_workspaces where pruned_at < now() - ${days} * interval '1 day'
        order by pruned_at limit 10000)
    `
  },
})

interface Kind {
  readonly table: RawBuilder<unknown>
  readonly key: RawBuilder<unknown>
  readonly isUnused: RawBuilder<unknown>
  /** Waits for every transaction that has read a row and may still refer to it, and blocks new readers. */
  readonly lock: RawBuilder<unknown>
}

const WORKFLOWS: Kind = {
  table: sql`pinned_workflows`,
  key: sql`hash`,
  isUnused: sql`not exists (select from jobs j where j.workflow_hash = u.hash)`,
  // A submit writes to the table before it refers to the row.
  lock: sql`lock table pinned_workflows in share row exclusive mode`,
}

const SCOPES: Kind = {
  table: sql`scopes`,
  key: sql`id`,
  isUnused: sql`not exists (select from scans s where s.scope_id = u.id)
    and not exists (select from sightings s where s.scope_id = u.id)`,
  // An import reads the table before it refers to the row.
  lock: sql`lock table scopes in access exclusive mode`,
}

/** Gives up if the lock is not free within half a second, so that imports and submits do not wait longer. */
const remove = async <K extends string | number>(
  db: Kysely<Tables>,
  { table, key, isUnused, lock, after, limit }: Kind & { after: K; limit: number },
): Promise<{ removed: number; next: K | undefined }> => {
  const page = sql<{ key: K; is_unused: boolean }>`
    select ${key} as key, ${isUnused} as is_unused
    from (select ${key} from ${table} where ${key} > ${after} order by ${key} limit ${limit}) u order by ${key}`
  const { rows } = await page.execute(db)
  const next = rows.length === limit ? rows.at(-1)?.key : undefined
  const unused = rows.filter((row) => row.is_unused).map((row) => row.key)
  if (unused.length === 0) return { removed: 0, next }
  try {
    const removed = await db.transaction().execute(async (tx) => {
      await sql`set local lock_timeout = '500ms'`.execute(tx)
      await lock.execute(tx)
      return await changedRows(tx)`
        delete from ${table} u where ${key} = any(${unused}) and ${isUnused}`
    })
    return { removed, next }
  } catch (error) {
    if (isLockTimeout(error)) return { removed: 0, next }
    throw error
  }
}
