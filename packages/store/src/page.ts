import { sql, type Kysely, type RawBuilder } from 'kysely'
import { encodeCursor } from './cursor.ts'
import type { PageOf } from './store.ts'

/** Counted for each row of a list that has no limit, so that its bytes bound its rows, too. */
export const ROW_BYTES = 512

/** Most bytes of text in the rows of one page. A page has at least one row, however large that is. */
export const PAGE_BYTES = 8 * 1024 * 1024

export interface PageSource {
  /** `select id …`: the page as its limit alone makes it. */
  readonly ids: RawBuilder<unknown>
  /** What can be joined to them, and its id. */
  readonly from: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  /** Bytes of a row. `octet_length` of a text column is known without reading the text. */
  readonly bytes: RawBuilder<unknown>
  readonly columns: RawBuilder<unknown>
  /** Lowest ids first; default false. */
  readonly ascending?: boolean
  /** Default PAGE_BYTES. */
  readonly maxBytes?: number
}

export interface PageRows<T> {
  readonly rows: T[]
  /** The bytes ended the page before its limit did. */
  readonly truncated: boolean
}

/**
 * Rows of a page, ordered by id. The database adds up their bytes and reads only those that fit, so that neither
 * the driver nor this process ever holds more.
 */
export async function readPage<T extends object>(
  db: Kysely<unknown>,
  { ids, from, id, bytes, columns, ascending = false, maxBytes = PAGE_BYTES }: PageSource,
): Promise<PageRows<T>> {
  const order = ascending ? sql`` : sql`desc`
  const { rows } = await sql<T & { page_rows: number }>`
    with ids as materialized (${ids}), fitting as (
      select page_id, page_rows from (
        select ids.id as page_id, count(*) over () as page_rows, row_number() over w as n,
               sum(${bytes}) over w as up_to
        from ids join ${from} on ${id} = ids.id window w as (order by ids.id ${order})
      ) sized where n = 1 or up_to <= ${maxBytes}
    )
    select ${columns}, page_rows from fitting join ${from} on ${id} = page_id order by ${id} ${order}
  `.execute(db)
  return {
    rows: rows.map(({ page_rows: _, ...row }) => row as unknown as T),
    truncated: rows.length < (rows[0]?.page_rows ?? 0),
  }
}

/** The page of a list as callers get it; `idOf` names the row that the next page begins after. */
export const pageOf = <T, R = T>(
  { rows, truncated }: PageRows<R>,
  {
    total,
    limit,
    idOf,
    item,
  }: {
    total: number
    /** Undefined: only the bytes end it. */
    limit: number | undefined
    idOf: (row: R) => number
    item: (row: R) => T
  },
): PageOf<T> => {
  const last = rows.at(-1)
  return {
    data: rows.map(item),
    total,
    nextCursor:
      last !== undefined && (truncated || rows.length === limit) ? encodeCursor(idOf(last)) : undefined,
    truncated,
  }
}
