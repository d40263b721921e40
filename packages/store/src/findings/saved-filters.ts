import type { SavedFilter } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { canBeStored } from '../text.ts'
import type { Tables } from '../tables.ts'
import { allRows, changedRows, firstRow } from '../rows.ts'

/** Most filters of one owner. */
export const MAX_SAVED_FILTERS = 100
/** Most filters in a list. */
const MAX_LISTED = 1_000

const columns = (owner: string) =>
  sql`id, screen, name, query, shared, owner_name, owner = ${owner} as own, created_at`

/** `owner`: a user or a token. */
export const makeSavedFilters = (db: Kysely<Tables>) => ({
  /** Those of an owner and shared ones, by screen and name. */
  list: async (owner: string, screen: string | undefined): Promise<SavedFilter[]> => {
    if (screen !== undefined && !canBeStored(screen)) return []
    return await allRows(db)<SavedFilter>`
      select ${columns(owner)} from saved_filters
      where (owner = ${owner} or shared) and (${screen ?? null}::text is null or screen = ${screen ?? null})
      order by owner = ${owner} desc, screen, name, id limit ${MAX_LISTED}
    `
  },
  /** Replaces the one with the same screen and name. Undefined: the owner has too many. */
  put: (
    { owner, ownerName }: { owner: string; ownerName: string },
    { screen, name, query, shared }: Pick<SavedFilter, 'screen' | 'name' | 'query' | 'shared'>,
  ): Promise<SavedFilter | undefined> => firstRow(db)<SavedFilter>`
      insert into saved_filters as s (owner, owner_name, screen, name, query, shared)
      select ${owner}, ${ownerName}, ${screen}, ${name}, ${query}, ${shared}
      where (select count(*) from saved_filters where owner = ${owner}) < ${MAX_SAVED_FILTERS}
         or exists (select from saved_filters where owner = ${owner} and screen = ${screen} and name = ${name})
      on conflict (owner, screen, name) do update
      set query = excluded.query, shared = excluded.shared, owner_name = excluded.owner_name
      returning ${columns(owner)}
    `,
  /** `anyShared`: also one that somebody else shares. False: there is none. */
  remove: async (id: number, owner: string, anyShared: boolean): Promise<boolean> =>
    (await changedRows(db)`
      delete from saved_filters where id = ${id} and (owner = ${owner} or (shared and ${anyShared}::boolean))
    `) === 1,
})
