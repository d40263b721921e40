import { randomBytes } from 'node:crypto'
import { AppError, type OwnSession } from '@scanfarm/contracts'
import type { Access, SessionOwner, StoredSession } from '@scanfarm/store'
import { addressGroup } from '../http/address-limits.ts'
import { tokenHash } from './api-token.ts'
import type { Caller } from './authenticator.ts'
import { tooManyFailures, type LoginService } from './login-service.ts'

const SECRET_BYTES = 32
const HOUR_MS = 3_600_000

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url')

/** How a browser proves who uses it. */
export type Proof =
  | { readonly username: string; readonly password: string }
  | { readonly token: string }
  | { readonly code: string }

/** Sessions of browsers. Every session has a new secret, so an attacker cannot make a user log in with a known secret. */
export const createSessionService = (access: Access, logins: LoginService, hours: number) => {
  /** Counts tries of tokens and codes by address. */
  const guarded = async (ip: string, start: () => Promise<boolean>): Promise<void> => {
    const address = addressGroup(ip)
    const waitMs = await access.secretAttempt(address)
    if (waitMs > 0) throw tooManyFailures(waitMs)
    if (await start()) await access.secretSucceeded(address)
  }
  const start = async (proof: Proof, ip: string, hash: string): Promise<void> => {
    if ('username' in proof) {
      const { id, passwordHash } = await logins.check({ ...proof, ip })
      return access.addSession({ kind: 'user', id }, { hash, hours, passwordHash })
    }
    await guarded(ip, async () => {
      if ('code' in proof) await access.redeemLoginCode(tokenHash(proof.code), { hash, hours })
      else {
        const token = await access.tokenByHash(tokenHash(proof.token))
        if (token !== undefined) await access.addSession({ kind: 'token', id: token.id }, { hash, hours })
      }
      return (await access.sessionByHash(hash)) !== undefined
    })
  }
  return {
    /** Starts a session. Throws 401 for a wrong proof, and 429 with a waiting time after too many failures. */
    async open(proof: Proof, ip: string): Promise<{ secret: string; session: StoredSession }> {
      const secret = newSecret()
      const hash = tokenHash(secret)
      await start(proof, ip, hash)
      const session = await access.sessionByHash(hash)
      if (session === undefined) throw new AppError('unauthorized', refusalOf(proof))
      return { secret, session }
    },
    /** A code that starts one session of the caller. */
    async addCode(caller: Caller): Promise<{ code: string; expiresAt: string }> {
      const code = newSecret()
      const sessionUntil = new Date(caller.expiresAt ?? Date.now() + hours * HOUR_MS)
      const expiresAt = await access.addLoginCode(ownerOf(caller), { hash: tokenHash(code), sessionUntil })
      if (expiresAt === undefined) throw new AppError('unauthorized', `${caller.name} was removed`)
      return { code, expiresAt }
    },
    close: (secret: string): Promise<void> => access.endSession(tokenHash(secret)),
    /** Logins of browsers as the caller; `secret` is the one of this browser. */
    list: (caller: Caller, secret: string | undefined): Promise<OwnSession[]> =>
      access.sessionsOf(ownerOf(caller), secret === undefined ? undefined : tokenHash(secret)),
    /** Ends one of them. False: there is none with this id. */
    end: (caller: Caller, id: string): Promise<boolean> => access.endSessionOf(ownerOf(caller), id),
  }
}
export type SessionService = ReturnType<typeof createSessionService>

const refusalOf = (proof: Proof): string => {
  if ('code' in proof)
    return 'the login link is unknown, was used or is older than 10 minutes; create another with `scanfarm open`'
  return 'token' in proof
    ? 'the token is unknown, has expired or was removed'
    : 'the user was changed during the login; log in again'
}

const ownerOf = ({ kind, id }: Caller): SessionOwner => {
  if (kind === 'guest') throw new AppError('unauthorized', 'log in first')
  return { kind, id }
}
