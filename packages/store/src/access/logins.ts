import { createHash } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import { storable } from '../text.ts'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

export interface LoginPolicy {
  /** Failures of a name from one address without a wait, for typing errors. */
  readonly freeFailures: number
  readonly longestWaitMs: number
}

export const LOGIN_POLICY: LoginPolicy = { freeFailures: 5, longestWaitMs: 60_000 }

export interface LoginAttempt {
  /** The user has logged in from this address before. */
  readonly known: boolean
  /** Above 0: the login must wait that long, and was not counted. */
  readonly waitMs: number
  /** There are many attempts from unknown addresses, for this name or for all names. */
  readonly slow: boolean
}

const MAX_ADDRESS_LENGTH = 64
/** Most rows of counted failures; the oldest are deleted first. */
const MAX_ROWS = 100_000

/** Names are hashed: users may type a password as the name, and names have any length. */
const hashOf = (name: string): string => createHash('sha256').update(name).digest('base64url')

const addressOf = (address: string): string => storable(address).slice(0, MAX_ADDRESS_LENGTH).toWellFormed()

export const makeLogins = (
  db: Kysely<Tables>,
  { freeFailures, longestWaitMs }: LoginPolicy = LOGIN_POLICY,
) => ({
  /** Whether a login may be tried now. If it may, it counts as failed until `loginSucceeded`. */
  loginAttempt: async (username: string, address: string): Promise<LoginAttempt> => {
    const { rows } = await sql<{ known: boolean; wait_ms: number; slow: boolean }>`
      select * from login_attempt(${storable(username)}, ${addressOf(address)}, ${hashOf(username)}, ${freeFailures},
                                  ${longestWaitMs}, ${MAX_ROWS})
    `.execute(db)
    const { known = false, wait_ms: waitMs = 0, slow = false } = rows[0] ?? {}
    return { known, waitMs, slow }
  },
  /** How long the address must wait before it may log in with a token or a code, in ms; at 0 the attempt is counted. */
  secretAttempt: (address: string): Promise<number> => firstValue(db, 0)`
      select * from secret_attempt(${addressOf(address)}, ${freeFailures}, ${longestWaitMs}, ${MAX_ROWS})
    `,
  /** Reverts the count of `secretAttempt`. */
  secretSucceeded: async (address: string): Promise<void> => {
    await sql`update login_failures set failures = greatest(0, failures - 1)
              where key = ${`address:${addressOf(address)}`}`.execute(db)
  },
  /** Reverts the count and stores the address as known for the user. */
  loginSucceeded: async (username: string, address: string): Promise<void> => {
    await sql`select login_succeeded(${storable(username)}, ${addressOf(address)}, ${hashOf(username)})`.execute(
      db,
    )
  },
})
