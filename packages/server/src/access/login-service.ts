import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { AppError } from '@scanfarm/contracts'
import type { Access } from '@scanfarm/store'
import { addressGroup } from '../http/address-limits.ts'
import { PasswordCheckQueue } from './password-check-queue.ts'
import { loginHash, signLogin, verifyLogin } from './login-token.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { passwordMark } from './api-token.ts'

/** Each check takes 32 MiB and briefly occupies a thread of the pool. */
const CHECKS_AT_ONCE = 4
const CHECKS_WAITING = 32
/** Delay for attempts from unknown addresses while there are many attempts for the name or in total. */
const SLOW_MS = 3_000
const MAX_DELAYED = 64
const BUSY_RETRY_SECONDS = 5

interface PasswordLogin {
  readonly username: string
  readonly password: string
  readonly ip: string
}

interface CheckedUser {
  readonly id: number
  readonly username: string
  readonly passwordHash: string
}

export const createLoginService = (
  access: Access,
  signingKey: () => Promise<Uint8Array>,
  sessionHours: number,
) => {
  const checks = new PasswordCheckQueue({ most: CHECKS_AT_ONCE, mostWaiting: CHECKS_WAITING })
  let decoy: Promise<string> | undefined
  let delayed = 0
  /** Takes as long for unknown names as for wrong passwords. */
  const check = async (password: string, stored: string | undefined): Promise<boolean> => {
    const against = stored ?? (await (decoy ??= hashPassword('nobody has this password')))
    return (await verifyPassword(password, against)) && stored !== undefined
  }
  const delay = async (): Promise<void> => {
    if (delayed >= MAX_DELAYED)
      throw new AppError('unavailable', 'too many logins at once; try again', {
        retryAfter: BUSY_RETRY_SECONDS,
      })
    delayed += 1
    await setTimeout(SLOW_MS)
    delayed -= 1
  }
  const checkUser = async ({ username, password, ip }: PasswordLogin): Promise<CheckedUser> => {
    const address = addressGroup(ip)
    const { known, waitMs, slow } = await access.loginAttempt(username, address)
    if (waitMs > 0) throw tooManyFailures(waitMs)
    if (slow) await delay()
    return checks.run(known, async () => {
      const user = await access.userByName(username)
      if (!(await check(password, user?.passwordHash)) || user === undefined)
        throw new AppError('unauthorized', 'the user name or the password is wrong')
      await access.loginSucceeded(username, address)
      return user
    })
  }
  return {
    /** The user, if name and password are right. Else throws 401, or 429 with a time after too many failures. */
    check: checkUser,
    /** The same with a login token. */
    async login(request: PasswordLogin): Promise<string> {
      const user = await checkUser(request)
      const iat = Math.floor(Date.now() / 1000)
      const mark = passwordMark(user.passwordHash)
      const exp = iat + sessionHours * 3600
      // With `jti`, two logins in one second are two tokens, and each has its own logout.
      const claims = { sub: String(user.id), name: user.username, mark, jti: randomUUID(), iat, exp }
      return signLogin(claims, await signingKey())
    },
    /** Makes a login token of this farm invalid. False: this is none, or it has expired. */
    async logout(token: string): Promise<boolean> {
      const claims = await verifyLogin(token, await signingKey(), new Date())
      if (claims === undefined) return false
      await access.revokeLogin(loginHash(token), new Date(claims.exp * 1000))
      return true
    },
  }
}
export type LoginService = ReturnType<typeof createLoginService>

/** The refusal of a login from an address or of a name with too many failures. */
export const tooManyFailures = (waitMs: number): AppError =>
  new AppError('too_many_requests', 'too many failed logins; wait before the next try', {
    retryAfter: waitMs / 1000,
  })
