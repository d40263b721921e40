import { sql, type Kysely } from 'kysely'
import type { KeptAnswer } from './job-draft.ts'
import { idempotencyConflict } from './submit-job.ts'
import { canBeStored } from '../text.ts'
import type { Tables } from '../tables.ts'

export const makeIdempotency = (db: Kysely<Tables>) => ({
  find: async (key: string, requestHash: string): Promise<KeptAnswer | undefined> => {
    if (!canBeStored(key)) return undefined
    const kept = await db
      .selectFrom('idempotency_keys')
      .select(['status', 'body', 'request_hash'])
      .where('key', '=', key)
      .$castTo<KeptAnswer & { request_hash: string }>()
      .executeTakeFirst()
    if (!kept) return undefined
    if (kept.request_hash !== requestHash) throw idempotencyConflict()
    return { status: kept.status, body: kept.body }
  },
  prune: async (olderThanMs: number): Promise<number> => {
    const { numDeletedRows } = await db
      .deleteFrom('idempotency_keys')
      .where('created_at', '<', sql<string>`now() - ${olderThanMs} * interval '1 ms'`)
      .executeTakeFirst()
    return Number(numDeletedRows)
  },
})
