import { createHash } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { Access, LoginAttempt } from './store.ts'
import { storable } from './text.ts'

export interface LoginPolicy {
  /** Failures of a name from one address that cost nothing, so that a typing error does not slow anybody down. */
  readonly freeFailures: number
  readonly longestWaitMs: number
}

export const LOGIN_POLICY: LoginPolicy = { freeFailures: 5, longestWaitMs: 60_000 }

const MAX_ADDRESS_LENGTH = 64
/** Rows of counted failures; the oldest are forgotten first. */
const MAX_ROWS = 100_000

/** A name that was typed may be a password, and is of any length. */
const hashOf = (name: string): string => createHash('sha256').update(name).digest('base64url')

const addressOf = (address: string): string => storable(address).slice(0, MAX_ADDRESS_LENGTH).toWellFormed()

export const makeLogins = (
  db: Kysely<unknown>,
  { freeFailures, longestWaitMs }: LoginPolicy = LOGIN_POLICY,
): Pick<Access, 'loginAttempt' | 'loginSucceeded'> => ({
  loginAttempt: async (username, address) => {
    const { rows } = await sql<{ known: boolean; wait_ms: number; slow: boolean }>`
      select * from login_attempt(${storable(username)}, ${addressOf(address)}, ${hashOf(username)}, ${freeFailures},
                                  ${longestWaitMs}, ${MAX_ROWS})
    `.execute(db)
    const { known = false, wait_ms: waitMs = 0, slow = false } = rows[0] ?? {}
    return { known, waitMs, slow } satisfies LoginAttempt
  },
  loginSucceeded: async (username, address) => {
    await sql`select login_succeeded(${storable(username)}, ${addressOf(address)}, ${hashOf(username)})`.execute(
      db,
    )
  },
})
