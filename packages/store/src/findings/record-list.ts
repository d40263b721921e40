import { sql, type Kysely, type RawBuilder } from 'kysely'
import {
  countOf,
  decodeCursor,
  pageOf,
  readPage,
  type PageOf,
  type PageRows,
  type PageSource,
} from '../page.ts'
import { firstRow } from '../rows.ts'
import type { Tables } from '../tables.ts'
import type { Totals } from '../totals.ts'
import { boundedSearch } from './bounded-search.ts'
import { where } from './condition.ts'
import { sortedPage, type SortKey, type SortRequest } from './sorted.ts'

interface RecordTable<F> extends Pick<PageSource, 'from' | 'id' | 'bytes' | 'columns'> {
  readonly name: 'assets' | 'vulnerabilities'
  /** Its name in columns and keys. */
  readonly alias: string
  readonly keys: Readonly<Record<string, SortKey>>
  readonly conditionsOf: (filter: F) => RawBuilder<unknown>[]
  readonly searchOf: (filter: F) => Parameters<typeof boundedSearch>[1]
  /** Postgres misjudges the number of matches: up to this many are collected first. Default: they are read from the newest on. */
  readonly few?: number
}

interface Bounds {
  /** Only ids below this one; undefined: all. */
  readonly below: number | undefined
  readonly offset: number
  readonly limit: number
}

/** Makes Postgres collect all matches before it sorts. */
const ALL_FIRST = sql`offset 0`

/** What findings and assets have in common: they are counted, listed, sorted and read by their ids. */
export const makeRecordList = <T extends { readonly id: number }, F extends object, S extends string>(
  db: Kysely<Tables>,
  totals: Totals,
  { name, alias, keys, conditionsOf, searchOf, few, ...source }: RecordTable<F>,
) => {
  const table = sql.table(name)
  const total = (filter: F): Promise<number> =>
    totals.of(`${name} ${JSON.stringify(Object.entries(filter).sort())}`, () =>
      boundedSearch(db, searchOf(filter), (on) =>
        countOf(on, sql`from ${table} ${where(conditionsOf(filter))}`),
      ),
    )
  const newest = (
    on: Kysely<Tables>,
    filter: F,
    { below, offset, limit }: Bounds,
    areFew = false,
  ): Promise<PageRows<T>> => {
    const conditions = conditionsOf(filter)
    if (below !== undefined) conditions.push(sql`id < ${below}`)
    const matching = sql`select id from ${table} ${where(conditions)} ${areFew ? ALL_FIRST : sql``}`
    const ids = sql`select id from (${matching}) matching order by id desc limit ${limit} offset ${offset}`
    return readPage(on, { ...source, ids })
  }
  return {
    total,
    /** Newest first unless sorted. */
    list: async (filter: F, { sort, ...page }: SortRequest<S>): Promise<PageOf<T>> => {
      const search = searchOf(filter)
      if (sort !== undefined) {
        const list = {
          keys,
          table: sql`${table} ${sql.ref(alias)}`,
          source,
          search,
          total: await total(filter),
        }
        return await sortedPage(db, { ...list, conditions: conditionsOf(filter) }, page, sort)
      }
      const known = few === undefined ? undefined : await total(filter)
      if (known === 0) return { data: [], total: 0, nextCursor: undefined, truncated: false }
      const below = page.cursor === undefined ? undefined : decodeCursor(page.cursor)
      const bounds = { below, offset: below === undefined ? page.offset : 0, limit: page.limit }
      const areFew = known !== undefined && known <= (few ?? 0)
      const [all, found] = await Promise.all([
        known ?? total(filter),
        boundedSearch(db, search, (on) => newest(on, filter, bounds, areFew)),
      ])
      return pageOf(found, { total: all, limit: page.limit })
    },
    find: (id: number): Promise<T | undefined> =>
      firstRow(db)<T>`select ${source.columns} from ${source.from} where ${source.id} = ${id}`,
    /** Those that exist, lowest ids first, at most one page of bytes. */
    all: async (ids: readonly number[]): Promise<T[]> => {
      const some = sql`select unnest(${ids}::bigint[]) as id`
      return (await readPage<T>(db, { ...source, ids: some, ascending: true })).rows
    },
    /** For exports: newest first, at most `limit` and one page of bytes. */
    newestBelow: async (filter: F, below: number | undefined, limit: number): Promise<T[]> =>
      (await newest(db, filter, { below, offset: 0, limit })).rows,
  }
}
