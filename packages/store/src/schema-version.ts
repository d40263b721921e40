import { MIGRATIONS } from './migrations/index.ts'

/** Name of the newest migration that this program knows. */
export const schemaVersion: string = Object.keys(MIGRATIONS).sort().at(-1) ?? ''

/** Throws unless `found` (undefined: never migrated) is the schema that this program works with. */
export function demandSchema(found: string | undefined): void {
  if (found === schemaVersion) return
  throw new Error(
    `the database schema is ${found ?? 'nothing'}, this program needs ${schemaVersion}: run the migration`,
  )
}
