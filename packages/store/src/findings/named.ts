import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Tables } from '../tables.ts'
import { storable } from '../text.ts'

interface Kind {
  readonly table: RawBuilder<unknown>
  readonly name: RawBuilder<unknown>
  /** What a name does not mean; default nothing. */
  readonly except?: RawBuilder<unknown>
}

const KINDS = {
  schedule: { table: sql`schedules`, name: sql`name` },
  // A lost worker has often been followed by another of its name.
  worker: { table: sql`workers`, name: sql`name`, except: sql`lost_at is not null` },
  subscription: { table: sql`webhook_subscriptions`, name: sql`name` },
  token: { table: sql`api_tokens`, name: sql`name` },
  'never-scan entry': { table: sql`never_scan`, name: sql`entry` },
} as const satisfies Record<string, Kind>
export type NamedKind = keyof typeof KINDS

/** Enough to tell them apart. */
const MOST = 10

/** The id of the record that has this id, or else the ids of those that have this name. */
export const makeNamed = (db: Kysely<Tables>) => ({
  async ids(kind: NamedKind, ref: string): Promise<string[]> {
    const { table, name, except }: Kind = KINDS[kind]
    const { rows } = await sql<{ id: string }>`
      with found as (
        select id::text as id, id::text = ${storable(ref)} as is_id from ${table}
        where id::text = ${storable(ref)}
           or ${name} = ${storable(ref)} ${except === undefined ? sql`` : sql`and not (${except})`}
      )
      select id from found where is_id or not exists (select from found where is_id) order by id limit ${MOST}
    `.execute(db)
    return rows.map(({ id }) => id)
  },
})
