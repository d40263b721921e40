import type { IncomingHttpHeaders } from 'node:http'
import { AppError, roleAllows, type Role } from '@scanfarm/contracts'
import type { Access } from '@scanfarm/store'
import type { Caller } from './caller.ts'
import { looksLikeLogin, verifyLogin } from './login-token.ts'
import { passwordMark, tokenHash } from './secret-hash.ts'

/**
 * How long a proven token is believed without asking Postgres again. Removing a token or a user works at once on the
 * master that was asked to, and after this time on the others.
 */
const BELIEVED_MS = 2_000
const MAX_BELIEVED = 10_000
const MAX_TOKEN_LENGTH = 4_096

export interface Authenticator {
  /** Who sends these headers, if that is someone who may act as `role`; refuses with 401 or 403 otherwise. */
  authenticate(headers: IncomingHttpHeaders, role: Role): Promise<Caller> | Caller
  /** Asks Postgres again for everyone; called when tokens or users change here. */
  forget(): void
}

interface Believed {
  readonly caller: Caller
  readonly until: number
}

export const createAuthenticator = (
  access: Pick<Access, 'tokenByHash' | 'userByName'>,
  signingKey: () => Promise<Uint8Array>,
): Authenticator => {
  const believed = new Map<string, Believed>()
  const prove = async (secret: string): Promise<Caller> => {
    const caller = looksLikeLogin(secret) ? await userOf(secret) : await tokenOf(secret)
    if (caller === undefined)
      throw new AppError('unauthorized', 'the token is not known, or it has expired or was removed')
    if (believed.size >= MAX_BELIEVED) believed.clear()
    believed.set(secret, { caller, until: performance.now() + BELIEVED_MS })
    return caller
  }
  const tokenOf = async (secret: string): Promise<Caller | undefined> => {
    const token = await access.tokenByHash(tokenHash(secret))
    return token && { kind: 'token', ...token }
  }
  const userOf = async (secret: string): Promise<Caller | undefined> => {
    const claims = verifyLogin(secret, await signingKey(), Date.now())
    const user = claims && (await access.userByName(claims.name))
    // Another user may have the name by now, or the same one another password.
    if (user?.id !== Number(claims?.sub) || passwordMark(user.passwordHash) !== claims?.mark) return undefined
    return { kind: 'user', id: user.id, name: user.username, role: user.role }
  }
  return {
    authenticate(headers, role) {
      const secret = secretOf(headers)
      const known = believed.get(secret)
      return known !== undefined && known.until > performance.now()
        ? allowed(known.caller, role)
        : prove(secret).then((caller) => allowed(caller, role))
    },
    forget: () => believed.clear(),
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
    `this needs the role ${need}, and ${caller.name} has the role ${caller.role}`,
  )
}
