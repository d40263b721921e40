import { DatabaseSync } from 'node:sqlite'
import { quoted, type BaseDatabase, type BaseTable } from './base-database.ts'

/** Opens a SQLite file read-only. Throws if it is not a SQLite file. */
export const openSqliteBase = (file: string): BaseDatabase => {
  const db = new DatabaseSync(file, { readOnly: true })
  const columns = (table: BaseTable): Set<unknown> =>
    new Set(
      db
        .prepare(`select name from pragma_table_info('${table}')`)
        .all()
        .map(({ name }) => name),
    )
  try {
    columns('runs')
  } catch (error) {
    db.close()
    throw error
  }
  return {
    async count(table) {
      if (columns(table).size === 0) return 0
      return Number(db.prepare(`select count(*) as n from ${quoted(table)}`).get()?.['n'])
    },
    async *rows(table, order) {
      const known = columns(table)
      if (known.size === 0) return
      const by = order.filter((name) => known.has(name)).map(quoted)
      yield* db
        .prepare(`select * from ${quoted(table)}${by.length === 0 ? '' : ` order by ${by.join(', ')}`}`)
        .iterate()
    },
    async [Symbol.asyncDispose]() {
      db.close()
    },
  }
}
