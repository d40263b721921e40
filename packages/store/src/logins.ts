import { sql, type Kysely } from 'kysely'
import type { Access } from './store.ts'
import { storable } from './text.ts'

export interface LoginPolicy {
  /** Failures that cost nothing, so that a typing error does not slow anybody down. */
  readonly freeFailures: number
  readonly longestWaitMs: number
}

export const LOGIN_POLICY: LoginPolicy = { freeFailures: 5, longestWaitMs: 60_000 }

const FIRST_WAIT_MS = 1_000
/** After so long without a failure the count starts anew. */
const FORGET_MS = 15 * 60_000
const MAX_KEY_LENGTH = 256

type Logins = Pick<Access, 'loginFailed' | 'loginWait' | 'loginSucceeded'>

const keyOf = (key: string): string => storable(key).slice(0, MAX_KEY_LENGTH).toWellFormed()

/** Failed logins by name or address: after the free ones the wait doubles with each failure. */
export const makeLogins = (
  db: Kysely<unknown>,
  { freeFailures, longestWaitMs }: LoginPolicy = LOGIN_POLICY,
): Logins => ({
  loginFailed: async (key) => {
    const { rows } = await sql<{ wait_ms: number }>`
      insert into login_failures as f (key, failures, last_at, wait_until) values (${keyOf(key)}, 1, now(), now())
      on conflict (key) do update
      set failures = case when f.last_at < now() - ${FORGET_MS} * interval '1 ms' then 1 else f.failures + 1 end,
          last_at = now(),
          wait_until = now() + interval '1 ms' * case
            when f.last_at < now() - ${FORGET_MS} * interval '1 ms' or f.failures < ${freeFailures} then 0
            else least(${longestWaitMs}::float8, ${FIRST_WAIT_MS}::float8 * 2 ^ least(f.failures - ${freeFailures}, 30))
          end
      returning ceil(greatest(0, extract(epoch from wait_until - now()) * 1000))::int as wait_ms
    `.execute(db)
    return rows[0]?.wait_ms ?? 0
  },
  loginWait: async (key) => {
    const { rows } = await sql<{ wait_ms: number }>`
      select ceil(greatest(0, extract(epoch from wait_until - now()) * 1000))::int as wait_ms
      from login_failures where key = ${keyOf(key)}
    `.execute(db)
    return rows[0]?.wait_ms ?? 0
  },
  loginSucceeded: async (key) => {
    await sql`delete from login_failures where key = ${keyOf(key)} or last_at < now() - ${FORGET_MS} * interval '1 ms'`.execute(
      db,
    )
  },
})
