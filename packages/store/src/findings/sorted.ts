import { AppError } from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { invalidCursor, pageOf, readPage, type PageOf, type PageRequest, type PageSource } from '../page.ts'
import type { Tables } from '../tables.ts'
import { canBeStored } from '../text.ts'
import { boundedSearch } from './bounded-search.ts'
import { where } from './condition.ts'

export interface SortKey {
  readonly key: RawBuilder<unknown>
  readonly type: 'bigint' | 'text'
  /** There is an index of this key and the id in reverse. */
  readonly isIndexed?: boolean
}

/** Most records that are sorted by a key without an index. */
export const SORTED_RECORDS = 100_000
/** Letters of a text that decide about its place. */
export const SORTED_LETTERS = 60

/** The order of a list by a key, equal ones newest first. */
export interface SortedBy {
  readonly order: RawBuilder<unknown>
  /** Throws if so many records cannot be sorted by this key. */
  readonly demandFew: (total: number) => void
  /** The condition of a page after a cursor. */
  readonly after: (cursor: string) => RawBuilder<unknown>
  readonly key: RawBuilder<unknown>
  readonly cursorOf: (row: SortedRow) => string
}

export interface SortedRow {
  readonly id: number
  readonly sort_key: string
}

const VALID = {
  bigint: (text: string): boolean => /^-?\d{1,18}$/.test(text),
  text: (text: string): boolean => [...text].length <= SORTED_LETTERS && canBeStored(text),
}

/** `name` is one of the keys, or that with a minus for the reverse order. `id`: that of the table, as the keys name it. */
export function sortedBy(
  keys: Readonly<Record<string, SortKey>>,
  name: string,
  id: RawBuilder<unknown>,
): SortedBy {
  const isReverse = name.startsWith('-')
  const sort = keys[isReverse ? name.slice(1) : name]
  if (sort === undefined) throw new Error(`no list is sorted by ${name}`)
  const { key, type, isIndexed = false } = sort
  const direction = isReverse ? sql`desc` : sql`asc`
  return {
    key: sql`(${key})::text`,
    order: sql`${key} ${direction}, (-${id}) ${direction}`,
    demandFew: (total) => {
      if (isIndexed || total <= SORTED_RECORDS) return
      throw new AppError('bad_request', `${total} records match: too many to be sorted by ${name}`, {
        details: [
          {
            path: '/sort',
            message: `add a filter that leaves at most ${SORTED_RECORDS} records, such as workspace, or leave sort out`,
          },
        ],
      })
    },
    after: (cursor) => {
      const [, of, last, value = ''] =
        /^s(-?\w+):(\d{1,15}):(.*)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
      if (of !== name || !VALID[type](value)) throw invalidCursor()
      const place = sql`(${value}::${sql.raw(type)}, ${-Number(last)}::bigint)`
      return isReverse ? sql`(${key}, -${id}) < ${place}` : sql`(${key}, -${id}) > ${place}`
    },
    cursorOf: (row) => Buffer.from(`s${name}:${row.id}:${row.sort_key}`).toString('base64url'),
  }
}

export type SortRequest<N extends string> = PageRequest & {
  /** Default: newest first. */
  readonly sort?: N | `-${N}`
}

interface SortedList {
  readonly keys: Readonly<Record<string, SortKey>>
  /** The table with its short name, like `assets a`. */
  readonly table: RawBuilder<unknown>
  readonly source: Omit<PageSource, 'ids' | 'order'>
  readonly conditions: readonly RawBuilder<unknown>[]
  /** Missing: the conditions are quick. */
  readonly search?: Parameters<typeof boundedSearch>[1]
  readonly total: number
}

/** A page of a list in the order of a key. */
export const sortedPage = async <T extends { readonly id: number }>(
  db: Kysely<Tables>,
  { keys, table, source, conditions, search = { part: undefined, parameter: '' }, total }: SortedList,
  { cursor, offset, limit }: PageRequest,
  sort: string,
): Promise<PageOf<T>> => {
  const by = sortedBy(keys, sort, source.id)
  by.demandFew(total)
  const found = await boundedSearch(db, search, (on) =>
    readPage<T & SortedRow>(on, {
      ...source,
      ids: sql`select ${source.id} as id from ${table}
               ${where([...conditions, ...(cursor === undefined ? [] : [by.after(cursor)])])}
               order by ${by.order} limit ${limit} offset ${cursor === undefined ? offset : 0}`,
      order: by.order,
      columns: sql`${source.columns}, ${by.key} as sort_key`,
    }),
  )
  return pageOf<T & SortedRow, T>(found, {
    total,
    limit,
    cursorOf: by.cursorOf,
    item: ({ sort_key: _, ...row }) => row as unknown as T,
  })
}
