import type { ApiToken, Role, User } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { makeLogins, type LoginPolicy } from './logins.ts'
import { makeSessions } from './sessions.ts'
import { decodeCursor, encodeCursor, type PageOf, type PageRequest } from './page.ts'
import { canBeStored, storable } from './text.ts'

const TOKEN = sql.raw('id, name, role, created_at, expires_at, last_used_at')
const USER = sql.raw('id, username, role, created_at')

export const makeAccess = (db: Kysely<unknown>, logins?: LoginPolicy) => ({
  ...tokens(db),
  ...users(db),
  ...makeLogins(db, logins),
  ...makeSessions(db),
})

export type Access = ReturnType<typeof makeAccess>

const page = async <T extends { id: number }>(
  db: Kysely<unknown>,
  table: 'api_tokens' | 'users',
  columns: typeof TOKEN,
  { limit, offset, cursor }: PageRequest,
): Promise<PageOf<T>> => {
  const before = cursor === undefined ? sql`true` : sql`id < ${decodeCursor(cursor)}`
  const [counted, listed] = await Promise.all([
    sql<{ total: number }>`select count(*) as total from ${sql.table(table)}`.execute(db),
    sql<T>`select ${columns} from ${sql.table(table)} where ${before} order by id desc
           limit ${limit} offset ${cursor === undefined ? offset : 0}`.execute(db),
  ])
  const last = listed.rows.at(-1)
  return {
    data: listed.rows,
    total: counted.rows[0]?.total ?? 0,
    nextCursor: last && listed.rows.length === limit ? encodeCursor(last.id) : undefined,
    // Rows are small.
    truncated: false,
  }
}

const one = <T>(rows: readonly T[], what: string): T => {
  const [row] = rows
  if (!row) throw new Error(`${what} returned no row`)
  return row
}

const tokens = (db: Kysely<unknown>) => ({
  /** `hash`: SHA-256 of the secret, hex. */
  addToken: async (token: {
    name: string
    role: Role
    hash: string
    expiresAt: Date | null
  }): Promise<ApiToken> => {
    const { name, role, hash, expiresAt } = token
    const { rows } = await sql<ApiToken>`
      insert into api_tokens (name, role, hash, expires_at) values (${storable(name)}, ${role}, ${hash}, ${expiresAt})
      returning ${TOKEN}
    `.execute(db)
    return one(rows, 'adding a token')
  },
  tokens: (request: PageRequest) => page<ApiToken>(db, 'api_tokens', TOKEN, request),
  removeToken: async (id: number): Promise<boolean> => {
    const { numAffectedRows } = await sql`
      with filters as (delete from saved_filters where owner = ${`token:${id}`})
      delete from api_tokens where id = ${id}`.execute(db)
    return numAffectedRows === 1n
  },
  /** A valid token. Records its use at most once a minute. */
  tokenByHash: async (hash: string): Promise<{ id: number; name: string; role: Role } | undefined> => {
    const { rows } = await sql<{ id: number; name: string; role: Role; note: boolean }>`
      select id, name, role, last_used_at is null or last_used_at < now() - interval '1 minute' as note
      from api_tokens where hash = ${hash} and (expires_at is null or expires_at > now())
    `.execute(db)
    const [found] = rows
    if (!found) return undefined
    if (found.note) await sql`update api_tokens set last_used_at = now() where id = ${found.id}`.execute(db)
    return { id: found.id, name: found.name, role: found.role }
  },
  anyToken: async () => (await sql`select 1 from api_tokens limit 1`.execute(db)).rows.length > 0,
  /** Creates the first token; undefined if any token exists. */
  addFirstToken: ({ name, role, hash }: { name: string; role: Role; hash: string }) =>
    db.transaction().execute(async (tx) => {
      await sql`lock table api_tokens in share row exclusive mode`.execute(tx)
      const { rows } = await sql<ApiToken>`
        insert into api_tokens (name, role, hash)
        select ${storable(name)}, ${role}, ${hash} where not exists (select 1 from api_tokens)
        returning ${TOKEN}
      `.execute(tx)
      return rows[0]
    }),
})

const users = (db: Kysely<unknown>) => ({
  addUser: async (user: {
    username: string
    role: Role
    passwordHash: string
  }): Promise<User | undefined> => {
    const { username, role, passwordHash } = user
    const { rows } = await sql<User>`
      insert into users (username, role, password_hash) values (${storable(username)}, ${role}, ${passwordHash})
      on conflict do nothing returning ${USER}
    `.execute(db)
    return rows[0]
  },
  users: (request: PageRequest) => page<User>(db, 'users', USER, request),
  removeUser: async (id: number): Promise<boolean> => {
    const { numAffectedRows } = await sql`
      with filters as (delete from saved_filters where owner = ${`user:${id}`})
      delete from users where id = ${id}`.execute(db)
    return numAffectedRows === 1n
  },
  setUser: async (id: number, { role, passwordHash }: { role?: Role; passwordHash?: string }) => {
    const { rows } = await sql<User>`
      update users set role = coalesce(${role ?? null}, role), password_hash = coalesce(${passwordHash ?? null}, password_hash)
      where id = ${id} returning ${USER}
    `.execute(db)
    return rows[0]
  },
  userByName: async (username: string) => {
    if (!canBeStored(username)) return undefined
    const { rows } = await sql<User & { passwordHash: string }>`
      select ${USER}, password_hash as "passwordHash" from users where username = ${username}
    `.execute(db)
    return rows[0]
  },
  /** The user of a login token, unless the token was revoked. */
  userOfLogin: async (username: string, hash: string) => {
    const { rows } = await sql<User & { passwordHash: string }>`
      select ${USER}, password_hash as "passwordHash" from users
      where username = ${username} and not exists (select 1 from revoked_logins where hash = ${hash})
    `.execute(db)
    return rows[0]
  },
  userById: async (id: number) =>
    (await sql<User>`select ${USER} from users where id = ${id}`.execute(db)).rows[0],
})
