import type { ApiToken, Role, User } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { makeLogins, type LoginPolicy } from './logins.ts'
import { makeSessions } from './sessions.ts'
import { newestFirst, type PageOf, type PageRequest } from '../page.ts'
import { canBeStored, storable } from '../text.ts'
import type { Tables } from '../tables.ts'
import { changedRows, firstRow } from '../rows.ts'

const NOW = sql<string>`now()`
const TOKEN = ['id', 'name', 'role', 'created_at', 'expires_at', 'last_used_at'] as const
const USER = ['id', 'username', 'role', 'created_at'] as const

export const makeAccess = (db: Kysely<Tables>, logins?: LoginPolicy) => ({
  ...tokens(db),
  ...users(db),
  ...makeLogins(db, logins),
  ...makeSessions(db),
})

export type Access = ReturnType<typeof makeAccess>

const page = <T extends object>(
  db: Kysely<Tables>,
  table: 'api_tokens' | 'users',
  columns: readonly string[],
  request: PageRequest,
): Promise<PageOf<T>> =>
  newestFirst<T>(db, request, {
    from: sql.table(table),
    id: sql.ref(`${table}.id`),
    columns: listed(columns),
  })

const listed = (columns: readonly string[]) => sql.raw(columns.join(', '))

interface NewToken {
  readonly name: string
  readonly role: Role
  readonly hash: string
  readonly expiresAt: Date | null
}

const tokens = (db: Kysely<Tables>) => ({
  /** `hash`: SHA-256 of the secret, hex. */
  addToken: ({ name, role, hash, expiresAt }: NewToken): Promise<ApiToken> =>
    db
      .insertInto('api_tokens')
      .values({ name: storable(name), role, hash, expires_at: expiresAt })
      .returning(TOKEN)
      .$castTo<ApiToken>()
      .executeTakeFirstOrThrow(),
  tokens: (request: PageRequest) => page<ApiToken>(db, 'api_tokens', TOKEN, request),
  removeToken: async (id: number): Promise<boolean> =>
    (await changedRows(db)`
      with filters as (delete from saved_filters where owner = ${`token:${id}`})
      delete from api_tokens where id = ${id}`) === 1,
  /** A valid token. Records its use at most once a minute. */
  tokenByHash: async (hash: string): Promise<{ id: number; name: string; role: Role } | undefined> => {
    const found = await firstRow(db)<{ id: number; name: string; role: Role; note: boolean }>`
      select id, name, role, last_used_at is null or last_used_at < now() - interval '1 minute' as note
      from api_tokens where hash = ${hash} and (expires_at is null or expires_at > now())
    `
    if (!found) return undefined
    if (found.note)
      await db.updateTable('api_tokens').set({ last_used_at: NOW }).where('id', '=', found.id).execute()
    return { id: found.id, name: found.name, role: found.role }
  },
  anyToken: async () =>
    (await db.selectFrom('api_tokens').select('id').limit(1).executeTakeFirst()) !== undefined,
  /** Creates the first token; undefined if any token exists. */
  addFirstToken: ({ name, role, hash }: { name: string; role: Role; hash: string }) =>
    db.transaction().execute(async (tx) => {
      await sql`lock table api_tokens in share row exclusive mode`.execute(tx)
      return await firstRow(tx)<ApiToken>`
        insert into api_tokens (name, role, hash)
        select ${storable(name)}, ${role}, ${hash} where not exists (select 1 from api_tokens)
        returning ${listed(TOKEN)}
      `
    }),
})

interface NewUser {
  readonly username: string
  readonly role: Role
  readonly passwordHash: string
}

const users = (db: Kysely<Tables>) => ({
  addUser: ({ username, role, passwordHash }: NewUser): Promise<User | undefined> =>
    db
      .insertInto('users')
      .values({ username: storable(username), role, password_hash: passwordHash })
      .onConflict((conflict) => conflict.doNothing())
      .returning(USER)
      .$castTo<User>()
      .executeTakeFirst(),
  users: (request: PageRequest) => page<User>(db, 'users', USER, request),
  removeUser: async (id: number): Promise<boolean> =>
    (await changedRows(db)`
      with filters as (delete from saved_filters where owner = ${`user:${id}`})
      delete from users where id = ${id}`) === 1,
  setUser: (id: number, { role, passwordHash }: { role?: Role; passwordHash?: string }) => firstRow(db)<User>`
      update users set role = coalesce(${role ?? null}, role), password_hash = coalesce(${passwordHash ?? null}, password_hash)
      where id = ${id} returning ${listed(USER)}
    `,
  userByName: async (username: string) => {
    if (!canBeStored(username)) return undefined
    return await withPassword(db, username).executeTakeFirst()
  },
  /** The user of a login token, unless the token was revoked. */
  userOfLogin: (username: string, hash: string) =>
    withPassword(db, username)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('revoked_logins').select('hash').where('hash', '=', hash))),
      )
      .executeTakeFirst(),
  userById: (id: number) =>
    db.selectFrom('users').select(USER).where('id', '=', id).$castTo<User>().executeTakeFirst(),
})

const withPassword = (db: Kysely<Tables>, username: string) =>
  db
    .selectFrom('users')
    .select([...USER, 'password_hash as passwordHash'])
    .where('username', '=', username)
    .$castTo<User & { passwordHash: string }>()
