import { AppError } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { where } from './findings/condition.ts'
import type { Tables } from './tables.ts'
import { firstValue } from './rows.ts'

/** A cursor is the last id of a page. */
export const encodeCursor = (lastId: number): string => Buffer.from(`b${lastId}`).toString('base64url')

export const invalidCursor = (): AppError =>
  new AppError('bad_request', 'the cursor is invalid', {
    details: [{ path: '/cursor', message: 'must be the next_cursor of an earlier response' }],
  })

export function decodeCursor(cursor: string): number {
  const id = Number(/^b(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1])
  if (Number.isNaN(id)) throw invalidCursor()
  return id
}

export interface PageRequest {
  readonly offset: number
  readonly limit: number
  /** `nextCursor` of the previous page; overrides `offset`. */
  readonly cursor?: string
}

export interface PageOf<T> {
  readonly data: T[]
  readonly total: number
  readonly nextCursor: string | undefined
  /** The page ended at its limit of bytes: it may have fewer rows than its limit although more follow. */
  readonly truncated: boolean
}

/** Counted for each row of a list without a limit of rows, so that the limit of bytes also limits its rows. */
export const ROW_BYTES = 512

/** Most bytes of text in the rows of one page. A page has at least one row, of any size. */
export const PAGE_BYTES = 8 * 1024 * 1024

export interface PageSource {
  /** `select id …`: the page without the limit of bytes. */
  readonly ids: RawBuilder<unknown>
  /** The tables to be joined to the ids, and their id. */
  readonly from: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  /** Bytes of a row. Postgres computes `octet_length` of a text column without reading the text. */
  readonly bytes: RawBuilder<unknown>
  readonly columns: RawBuilder<unknown>
  /** Lowest ids first; default false. */
  readonly ascending?: boolean
  /** Another order, of rows of `from`. */
  readonly order?: RawBuilder<unknown>
  /** Default PAGE_BYTES. */
  readonly maxBytes?: number
}

export interface PageRows<T> {
  readonly rows: T[]
  /** The id of the last row: the next page begins after it. */
  readonly lastId: number | undefined
  /** The page ended at its limit of bytes. */
  readonly truncated: boolean
}

/**
 * Rows of a page, ordered by id unless the source has another order. The database sums their bytes and returns only
 * rows that fit, which bounds the memory of the driver and this process.
 */
export async function readPage<T extends object>(
  db: Kysely<Tables>,
  { ids, from, id, bytes, columns, ascending = false, maxBytes = PAGE_BYTES, ...source }: PageSource,
): Promise<PageRows<T>> {
  const order = source.order ?? (ascending ? id : sql`${id} desc`)
  const { rows } = await sql<T & { page_id: number; page_rows: number }>`
    with ids as materialized (${ids}), fitting as (
      select page_id, page_rows from (
        select ids.id as page_id, count(*) over () as page_rows, row_number() over w as n,
               sum(${bytes}) over w as up_to
        from ids join ${from} on ${id} = ids.id window w as (order by ${order})
      ) sized where n = 1 or up_to <= ${maxBytes}
    )
    select ${columns}, page_id, page_rows from fitting join ${from} on ${id} = page_id order by ${order}
  `.execute(db)
  return {
    rows: rows.map(({ page_id: _, page_rows: __, ...row }) => row as unknown as T),
    lastId: rows.at(-1)?.page_id,
    truncated: rows.length < (rows[0]?.page_rows ?? 0),
  }
}

/** The page of a list for callers. */
export const pageOf = <R, T = R>(
  { rows, lastId, truncated }: PageRows<R>,
  {
    total,
    limit,
    cursorOf,
    item = (row) => row as unknown as T,
  }: {
    readonly total: number
    /** Undefined: only bytes are limited. */
    readonly limit?: number
    /** Where the next page begins, in another order than that of ids. */
    readonly cursorOf?: (last: R) => string
    readonly item?: (row: R) => T
  },
): PageOf<T> => {
  const last = rows.at(-1)
  const goesOn = truncated || rows.length === limit
  return {
    data: rows.map(item),
    total,
    nextCursor:
      !goesOn || last === undefined || lastId === undefined
        ? undefined
        : (cursorOf?.(last) ?? encodeCursor(lastId)),
    truncated,
  }
}

/** `from`: what follows `select count(*)`. */
export const countOf = (db: Kysely<Tables>, from: RawBuilder<unknown>): Promise<number> =>
  firstValue(db, 0)`select count(*) as total ${from}`

type Listed<R, T> = Omit<PageSource, 'ids' | 'bytes'> & { readonly item?: (row: R) => T }

/** A page of the rows of a table that meet the conditions. `bytes` may be missing where rows are small. */
export async function newestFirst<R extends object, T = R>(
  db: Kysely<Tables>,
  { cursor, offset, limit }: PageRequest,
  list: Listed<R, T> & {
    readonly bytes?: PageSource['bytes']
    readonly conditions?: readonly RawBuilder<unknown>[]
    /** Instead of counting the rows. */
    readonly total?: (count: () => Promise<number>) => Promise<number>
  },
): Promise<PageOf<T>> {
  const { from, id, conditions = [], total = (count) => count(), item, ...source } = list
  const after = cursor === undefined ? [] : [sql`${id} < ${decodeCursor(cursor)}`]
  const ids = sql`select ${id} as id from ${from} ${where([...conditions, ...after])}
                  order by ${id} desc limit ${limit} offset ${cursor === undefined ? offset : 0}`
  const [all, found] = await Promise.all([
    total(() => countOf(db, sql`from ${from} ${where(conditions)}`)),
    readPage<R>(db, { bytes: sql`0`, ...source, ids, from, id }),
  ])
  return pageOf(found, { total: all, limit, item })
}

/** Rows by the number that `id` gives them, which only the limit of bytes divides into pages. */
export async function allInOrder<R extends object, T = R>(
  db: Kysely<Tables>,
  cursor: string | undefined,
  list: Listed<R, T> & Pick<PageSource, 'bytes'> & { readonly counted: RawBuilder<unknown> },
): Promise<PageOf<T>> {
  const { from, id, counted, item, ...source } = list
  const after = cursor === undefined ? 0 : decodeCursor(cursor)
  const ids = sql`select ${id} as id from ${from} where ${id} > ${after}`
  const [total, found] = await Promise.all([
    countOf(db, counted),
    readPage<R>(db, { ...source, ids, from, id, ascending: true }),
  ])
  return pageOf(found, { total, item })
}
