import { sql, type RawBuilder } from 'kysely'
import type { RunRef } from './store.ts'
import { isUuid } from './text.ts'

const NUMBER = /^[1-9]\d{0,14}$/

/** The condition that finds a run `r` by what stood in the path; undefined: it can be neither number nor uuid. */
export const byRef = (ref: RunRef): RawBuilder<unknown> | undefined => {
  if (NUMBER.test(ref)) return sql`r.id = ${Number(ref)}`
  if (isUuid(ref)) return sql`r.run_uuid = ${ref}`
  return undefined
}
