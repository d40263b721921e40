import type { IncomingHttpHeaders } from 'node:http'
import { AppError, roleAllows, type Role } from '@scanfarm/contracts'
import type { Access } from '@scanfarm/store'
import { passwordMark, tokenHash } from './api-token.ts'
import { looksLikeLogin, verifyLogin } from './login-token.ts'

/** The sender of a request: an API token or a logged-in user. */
export interface Caller {
  readonly kind: 'token' | 'user' | 'guest'
  readonly id: number
  readonly name: string
  readonly role: Role | undefined
}

/** The caller that handlers of public routes see. */
export const GUEST: Caller = { kind: 'guest', id: 0, name: '', role: undefined }

/**
 * How long a verified token is cached. Removing a token or a user takes effect immediately on the master that handles
 * the request, and after this time on the others.
 */
const CACHE_MS = 2_000
const MAX_CACHED = 10_000
const MAX_TOKEN_LENGTH = 4_096

export interface Authenticator {
  /**
   * The caller that these headers identify. Throws 401 if there is none, and 403 if its role does not include `role`.
   */
  authenticate(headers: IncomingHttpHeaders, role: Role): Promise<Caller> | Caller
  /** Clears the cache. Called after tokens or users were changed on this master. */
  invalidate(): void
}

interface CachedCaller {
  readonly caller: Caller
  readonly until: number
}

export const createAuthenticator = (
  access: Pick<Access, 'tokenByHash' | 'userByName'>,
  signingKey: () => Promise<Uint8Array>,
): Authenticator => {
  const cached = new Map<string, CachedCaller>()
  const verify = async (secret: string): Promise<Caller> => {
    const caller = looksLikeLogin(secret) ? await userOf(secret) : await tokenOf(secret)
    if (caller === undefined)
      throw new AppError('unauthorized', 'the token is unknown, has expired or was removed')
    if (cached.size >= MAX_CACHED) cached.clear()
    cached.set(secret, { caller, until: performance.now() + CACHE_MS })
    return caller
  }
  const tokenOf = async (secret: string): Promise<Caller | undefined> => {
    const token = await access.tokenByHash(tokenHash(secret))
    return token && { kind: 'token', ...token }
  }
  const userOf = async (secret: string): Promise<Caller | undefined> => {
    const claims = await verifyLogin(secret, await signingKey(), new Date())
    const user = claims && (await access.userByName(claims.name))
    // The name may belong to a new user by now, and the password may have changed.
    if (user?.id !== Number(claims?.sub) || passwordMark(user.passwordHash) !== claims?.mark) return undefined
    return { kind: 'user', id: user.id, name: user.username, role: user.role }
  }
  return {
    authenticate(headers, role) {
      const secret = secretOf(headers)
      const known = cached.get(secret)
      return known !== undefined && known.until > performance.now()
        ? allowed(known.caller, role)
        : verify(secret).then((caller) => allowed(caller, role))
    },
    invalidate: () => cached.clear(),
  }
}

const BEARER = /^Bearer +([^\s]+) *$/i

const secretOf = (headers: IncomingHttpHeaders): string => {
  const { authorization } = headers
  const other = headers['x-osm-api-key']
  const secret = authorization === undefined ? other : BEARER.exec(authorization)?.[1]
  if (typeof secret === 'string' && secret !== '' && secret.length <= MAX_TOKEN_LENGTH) return secret
  throw new AppError('unauthorized', 'send a token in the header "Authorization: Bearer <token>"')
}

const allowed = (caller: Caller, need: Role): Caller => {
  if (caller.role !== undefined && roleAllows(caller.role, need)) return caller
  throw new AppError(
    'forbidden',
    `this requires the role ${need}, but ${caller.name} has the role ${caller.role}`,
  )
}
