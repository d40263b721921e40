import type { OwnSession, Role } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.ts'
import { allRows, changedRows, firstRow } from '../rows.ts'

/** Whom a session belongs to. */
export interface SessionOwner {
  readonly kind: 'user' | 'token'
  readonly id: number
}

export interface StoredSession extends SessionOwner {
  readonly name: string
  readonly role: Role
  readonly expiresAt: string
}

/** Sessions and unused codes of one owner; a new one replaces the oldest. */
const MAX_SESSIONS = 100
const MAX_CODES = 20
const CODE_MINUTES = 10
/** Rows deleted in one turn. */
const PRUNE_ROWS = 10_000

/** A code or a session is valid while the role and the password of its user have not changed. */
const USER_MARK = sql.raw(`encode(sha256(convert_to(u.role || ' ' || u.password_hash, 'UTF8')), 'hex')`)

/** The owner as a row `o` with its mark; a user must have `passwordHash` if it is given. */
const ownerRow = ({ kind, id }: SessionOwner, passwordHash?: string) =>
  kind === 'user'
    ? sql`(select u.id as user_id, null::bigint as token_id, ${USER_MARK} as mark, null::timestamptz as until from users u
           where u.id = ${id} and u.password_hash = coalesce(${passwordHash ?? null}, u.password_hash)) o`
    : sql`(select null::bigint as user_id, t.id as token_id, '' as mark, t.expires_at as until from api_tokens t
           where t.id = ${id} and (t.expires_at is null or t.expires_at > now())) o`

const ownerColumn = ({ kind }: SessionOwner) => sql.ref(kind === 'user' ? 'user_id' : 'token_id')

const SESSION_ID = sql.raw('left(s.hash, 16)')

/** Hashes are SHA-256 of the secrets, hex. */
export const makeSessions = (db: Kysely<Tables>) => ({
  /** Starts a session. Nothing is stored if the owner is gone, or is a user with another password hash. */
  addSession: async (
    owner: SessionOwner,
    { hash, hours, passwordHash }: { hash: string; hours: number; passwordHash?: string },
  ): Promise<void> => {
    await sql`
      insert into sessions (hash, user_id, token_id, mark, expires_at)
      select ${hash}, o.user_id, o.token_id, o.mark, least(o.until, now() + ${hours} * interval '1 hour')
      from ${ownerRow(owner, passwordHash)}
    `.execute(db)
    await dropOldest(db, 'sessions', owner, MAX_SESSIONS)
  },
  /** A code for one login as the owner. Returns when it expires; undefined: the owner is gone. */
  addLoginCode: async (
    owner: SessionOwner,
    { hash, sessionUntil }: { hash: string; sessionUntil: Date },
  ): Promise<string | undefined> => {
    const { rows } = await sql<{ expires_at: string }>`
      insert into login_codes (hash, user_id, token_id, mark, expires_at, session_until)
      select ${hash}, o.user_id, o.token_id, o.mark, now() + ${CODE_MINUTES} * interval '1 minute',
        least(o.until, ${sessionUntil})
      from ${ownerRow(owner)}
      returning expires_at
    `.execute(db)
    await dropOldest(db, 'login_codes', owner, MAX_CODES)
    return rows[0]?.expires_at
  },
  /** Starts a session with a code, which becomes invalid. */
  redeemLoginCode: async (code: string, { hash, hours }: { hash: string; hours: number }): Promise<void> => {
    const row = await firstRow(db)<{ user_id: number | null; token_id: number | null }>`
      with used as (delete from login_codes where hash = ${code} returning *)
      insert into sessions (hash, user_id, token_id, mark, expires_at)
      select ${hash}, user_id, token_id, mark, least(session_until, now() + ${hours} * interval '1 hour')
      from used where expires_at > now()
      returning user_id, token_id
    `
    if (row === undefined) return
    const { user_id: user, token_id: token } = row
    await dropOldest(
      db,
      'sessions',
      user === null ? { kind: 'token', id: token ?? 0 } : { kind: 'user', id: user },
      MAX_SESSIONS,
    )
  },
  /** A valid session. Records its use at most once a minute. */
  sessionByHash: async (hash: string): Promise<StoredSession | undefined> => {
    const found = await firstRow(db)<StoredSession & { note: boolean }>`
      select case when s.user_id is null then 'token' else 'user' end as kind, coalesce(u.id, t.id) as id,
        coalesce(u.username, t.name) as name, coalesce(u.role, t.role) as role, s.expires_at as "expiresAt",
        s.last_used_at < now() - interval '1 minute' as note
      from sessions s left join users u on u.id = s.user_id left join api_tokens t on t.id = s.token_id
      where s.hash = ${hash} and s.expires_at > now() and s.mark = coalesce(${USER_MARK}, '')
    `
    if (found === undefined) return undefined
    const { note, ...session } = found
    if (note)
      await db
        .updateTable('sessions')
        .set({ last_used_at: sql<string>`now()` })
        .where('hash', '=', hash)
        .execute()
    return session
  },
  endSession: async (hash: string): Promise<void> => {
    await db.deleteFrom('sessions').where('hash', '=', hash).execute()
  },
  /** Valid sessions of an owner, the last used first; `current` is the hash of the one that asks. */
  sessionsOf: (owner: SessionOwner, current: string | undefined): Promise<OwnSession[]> => allRows(
    db,
  )<OwnSession>`
      select ${SESSION_ID} as id, s.created_at, s.last_used_at, s.expires_at, s.hash = ${current ?? ''} as current
      from sessions s left join users u on u.id = s.user_id
      where s.${ownerColumn(owner)} = ${owner.id} and s.expires_at > now() and s.mark = coalesce(${USER_MARK}, '')
      order by current desc, s.last_used_at desc, s.hash
    `,
  /** False: the owner has no such session. */
  endSessionOf: async (owner: SessionOwner, id: string): Promise<boolean> =>
    (await changedRows(db)`
      delete from sessions s where s.${ownerColumn(owner)} = ${owner.id} and ${SESSION_ID} = ${id}
    `) === 1,
  /** Makes a login token invalid until it expires. */
  revokeLogin: async (hash: string, expiresAt: Date): Promise<void> => {
    await db
      .insertInto('revoked_logins')
      .values({ hash, expires_at: expiresAt })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  },
  /** Deletes expired sessions, codes and revoked logins. Returns their number. */
  pruneSessions: async (): Promise<number> => {
    let removed = 0
    for (const table of ['sessions', 'login_codes', 'revoked_logins'])
      removed += Number(
        (
          await sql`
            delete from ${sql.table(table)} where hash in (
              select hash from ${sql.table(table)} where expires_at <= now() limit ${PRUNE_ROWS})
          `.execute(db)
        ).numAffectedRows ?? 0,
      )
    return removed
  },
})

const dropOldest = async (
  db: Kysely<Tables>,
  table: 'sessions' | 'login_codes',
  owner: SessionOwner,
  most: number,
): Promise<void> => {
  await sql`
    delete from ${sql.table(table)} where hash in (
      select hash from ${sql.table(table)} where ${ownerColumn(owner)} = ${owner.id}
      order by created_at desc, hash offset ${most})
  `.execute(db)
}
