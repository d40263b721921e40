import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { AppError, roleAllows, type Role } from '@scanfarm/contracts'
import type { Access } from '@scanfarm/store'
import { passwordMark, tokenHash } from './api-token.ts'
import { refuseOtherSites, sessionSecretOf, type Sent } from './session-cookie.ts'
import { loginHash, looksLikeLogin, verifyLogin, type LoginClaims } from './login-token.ts'
import { LoginWatch } from './login-watch.ts'

/** The sender of a request: an API token or a logged-in user. */
export interface Caller {
  readonly kind: 'token' | 'user' | 'guest'
  readonly id: number
  readonly name: string
  readonly role: Role | undefined
  /** When the login ends; missing for an API token in a header. */
  readonly expiresAt?: string
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
   * The caller that the headers identify, by a token or by the cookie of the console. Throws 401 if there is none, and 403 if
   * its role does not include `role` or the cookie may not be used.
   */
  authenticate(request: Credentials, role: Role): Promise<Caller> | Caller
  /** Closes the response when the login of the request ends or gets another role while the answer is being sent. */
  watch(request: Credentials, caller: Caller, response: ServerResponse): void
  /** Clears the cache. Called after tokens or users were changed on this master. */
  invalidate(): void
}

export interface Credentials extends Sent {
  readonly method: string
}

interface CachedCaller {
  readonly caller: Caller
  readonly until: number
}

export const createAuthenticator = (
  access: Pick<Access, 'tokenByHash' | 'userOfLogin' | 'sessionByHash'>,
  signingKey: () => Promise<Uint8Array>,
): Authenticator => {
  const cached = new Map<string, CachedCaller>()
  const watch = new LoginWatch()
  const verify = async ({ kind, value }: Secret): Promise<Caller> => {
    const caller = await find[kind](value)
    if (caller === undefined)
      throw new AppError('unauthorized', UNKNOWN[kind], {
        challenge: kind === 'token' ? 'invalid_token' : undefined,
      })
    if (cached.size >= MAX_CACHED) cached.clear()
    cached.set(`${kind} ${value}`, { caller, until: performance.now() + CACHE_MS })
    return caller
  }
  const tokenOf = async (secret: string): Promise<Caller | undefined> => {
    const token = await access.tokenByHash(tokenHash(secret))
    return token && { kind: 'token', ...token }
  }
  const userOf = async (secret: string): Promise<Caller | undefined> => {
    const claims = await verifyLogin(secret, await signingKey(), new Date())
    const user = claims && (await access.userOfLogin(claims.name, loginHash(secret)))
    // The name may belong to a new user by now, and the password may have changed.
    if (user?.id !== Number(claims?.sub) || passwordMark(user.passwordHash) !== claims?.mark) return undefined
    return { kind: 'user', id: user.id, name: user.username, role: user.role, expiresAt: timeOf(claims) }
  }
  const find: Readonly<Record<Secret['kind'], (value: string) => Promise<Caller | undefined>>> = {
    token: (value) => (looksLikeLogin(value) ? userOf(value) : tokenOf(value)),
    session: (value) => access.sessionByHash(tokenHash(value)),
  }
  return {
    authenticate(request, role) {
      const secret = secretOf(request)
      const known = cached.get(`${secret.kind} ${secret.value}`)
      return known !== undefined && known.until > performance.now()
        ? allowed(known.caller, role)
        : verify(secret).then((caller) => allowed(caller, role))
    },
    watch(request, caller, response) {
      const { kind, value } = secretOf(request)
      watch.watch(`${kind} ${value}`, caller, response, () => find[kind](value))
    },
    invalidate: () => cached.clear(),
  }
}

const BEARER = /^Bearer +([^\s]+) *$/i

/** A session is never accepted as a token, nor a token as a session. */
interface Secret {
  readonly kind: 'token' | 'session'
  readonly value: string
}

const UNKNOWN = {
  token: 'the token is unknown, has expired or was removed',
  session: 'the login of this browser has ended; log in again',
}

const timeOf = ({ exp }: LoginClaims): string => new Date(exp * 1000).toISOString()

/** The token in a header; undefined: there is none of a possible form. */
export const bearerToken = (headers: IncomingHttpHeaders): string | undefined => {
  const { authorization, 'x-osm-api-key': other } = headers
  const value = authorization === undefined ? other : BEARER.exec(authorization)?.[1]
  return typeof value === 'string' && value !== '' && value.length <= MAX_TOKEN_LENGTH ? value : undefined
}

const secretOf = (request: Credentials): Secret => {
  const { method, headers } = request
  const { authorization } = headers
  const other = headers['x-osm-api-key']
  const session = authorization === undefined && other === undefined ? sessionSecretOf(headers) : undefined
  if (session !== undefined) {
    refuseOtherSites(method, request)
    return { kind: 'session', value: session }
  }
  const value = bearerToken(headers)
  if (value !== undefined) return { kind: 'token', value }
  throw new AppError('unauthorized', 'send a token in the header "Authorization: Bearer <token>"')
}

const allowed = (caller: Caller, need: Role): Caller => {
  if (caller.role !== undefined && roleAllows(caller.role, need)) return caller
  throw new AppError(
    'forbidden',
    `this requires the role ${need}, but ${caller.name} has the role ${caller.role}`,
  )
}
