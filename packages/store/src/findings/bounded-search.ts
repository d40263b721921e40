import { AppError } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.ts'

/** The trigram index serves parts from three letters on; shorter ones read every record. */
const INDEXED_LETTERS = 3
const SEARCH_MS = 4_000

const QUERY_CANCELED = '57014'

const isTimeout = (error: unknown): boolean =>
  Error.isError(error) && 'code' in error && error.code === QUERY_CANCELED

/**
 * Searches for a part of a text. A search that no index serves has a time limit, after which it is rejected with
 * `bad_request`. `parameter`: name of the query parameter.
 */
export async function boundedSearch<T>(
  db: Kysely<Tables>,
  { part, parameter, ms = SEARCH_MS }: { part: string | undefined; parameter: string; ms?: number },
  search: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  if (part === undefined || [...part].length >= INDEXED_LETTERS) return await search(db)
  try {
    return await db.transaction().execute(async (tx) => {
      await sql`select set_config('statement_timeout', ${String(ms)}, true)`.execute(tx)
      return await search(tx)
    })
  } catch (error) {
    if (!isTimeout(error)) throw error
    throw new AppError('bad_request', `${parameter} is too short for so many records`, {
      details: [
        {
          path: `/${parameter}`,
          message: `give at least ${INDEXED_LETTERS} letters, or a filter that leaves fewer records, such as workspace`,
        },
      ],
      cause: error,
    })
  }
}
