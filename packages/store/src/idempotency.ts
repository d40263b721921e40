import { sql, type Kysely } from 'kysely'
import { idempotencyConflict, type KeptAnswer } from './jobs.ts'
import { canBeStored } from './text.ts'

export const makeIdempotency = (db: Kysely<unknown>) => ({
  find: async (key: string, requestHash: string): Promise<KeptAnswer | undefined> => {
    if (!canBeStored(key)) return undefined
    const { rows } = await sql<KeptAnswer & { request_hash: string }>`
      select status, body, request_hash from idempotency_keys where key = ${key}
    `.execute(db)
    const [kept] = rows
    if (!kept) return undefined
    if (kept.request_hash !== requestHash) throw idempotencyConflict()
    return { status: kept.status, body: kept.body }
  },
  prune: async (olderThanMs: number): Promise<number> => {
    const { numAffectedRows } = await sql`
      delete from idempotency_keys where created_at < now() - ${olderThanMs} * interval '1 ms'
    `.execute(db)
    return Number(numAffectedRows ?? 0)
  },
})
