import { sql, type RawBuilder } from 'kysely'
import { canBeStored, isUuid } from '../text.ts'

type Conditions = RawBuilder<unknown>[]

/** The filters of a list by the names that the API has for them: each makes the conditions of its value. */
type Filters = Readonly<Record<string, (value: never) => Conditions>>

/** Values of filters; those that are missing filter nothing. */
export type ValuesOf<F extends Filters> = {
  readonly [N in keyof F]?: Parameters<F[N]>[0] | undefined
}

export const conditionsBy =
  <F extends Filters>(filters: F) =>
  (values: ValuesOf<F>): Conditions =>
    Object.entries(filters).flatMap(([name, conditionsOf]) => {
      const value = values[name]
      return value === undefined ? [] : conditionsOf(value as never)
    })

/** A filter by the values of a column. */
export const oneOf =
  <W extends string>(column: string) =>
  (values: readonly W[]): Conditions =>
    isOneOf(column, values)

/** A filter by the value of a column. */
export const is =
  <W extends string>(column: string) =>
  (value: W): Conditions =>
    isOneOf(column, [value])

/** Conditions of a where clause. An absent value adds none; a value that cannot be stored matches nothing. */
export const isOneOf = (column: string, values: readonly string[] | undefined): Conditions => {
  if (values === undefined) return []
  const [only] = values
  if (values.length === 1 && only !== undefined)
    return [canBeStored(only) ? sql`${sql.ref(column)} = ${only}` : sql`false`]
  return [sql`${sql.ref(column)} = any(${values.filter(canBeStored)})`]
}

/** Case-insensitive; `%` and `_` are literal. */
export const contains = (text: RawBuilder<unknown>, part: string | undefined): Conditions => {
  if (part === undefined || part === '') return []
  if (!canBeStored(part)) return [sql`false`]
  return [sql`${text} ilike ${`%${part.replaceAll(/[\\%_]/g, '\\$&')}%`}`]
}

/** The array of the column has the value. */
export const has = (column: string, value: string): Conditions => [
  canBeStored(value) ? sql`${sql.ref(column)} @> array[${value}]::text[]` : sql`false`,
]

/** Last sighting of each kind of record. */
const SIGHTINGS = {
  vulnerability: sql`select finding_id from finding_sightings`,
  asset: sql`select asset_id from asset_sightings`,
}

/** The run that saw a record last, by its uuid. */
export const isLastRun = (kind: keyof typeof SIGHTINGS, uuid: string): Conditions => {
  if (!isUuid(uuid)) return [sql`false`]
  return [
    sql`id in (${SIGHTINGS[kind]} where last_run = (select id from runs where run_uuid = ${uuid}::uuid))`,
  ]
}

export const where = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`
