import { AppError } from '@scanfarm/contracts'
import type { Access } from '@scanfarm/store'
import { signLogin } from './login-token.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { passwordMark } from './secret-hash.ts'

/** Each check takes 32 MiB for a moment; more at once are told to come back. */
const CHECKS_AT_ONCE = 4
const BUSY_RETRY_SECONDS = 1

export interface LoginDesk {
  /** A login token for the right pair; 401, or 429 with a waiting time after too many wrong ones. */
  login(request: { username: string; password: string; ip: string }): Promise<string>
}

export const createLoginDesk = (
  access: Access,
  signingKey: () => Promise<Uint8Array>,
  sessionHours: number,
): LoginDesk => {
  let checking = 0
  let decoy: Promise<string> | undefined
  /** Unknown names take as long as wrong passwords. */
  const check = async (password: string, stored: string | undefined): Promise<boolean> => {
    const against = stored ?? (await (decoy ??= hashPassword('nobody has this password')))
    return (await verifyPassword(password, against)) && stored !== undefined
  }
  return {
    async login({ username, password, ip }) {
      const keys = [`user:${username}`, `address:${ip}`]
      await refuseWaiting(access, keys)
      if (checking >= CHECKS_AT_ONCE)
        throw new AppError('too_many_requests', 'too many logins at once; try again', {
          retryAfter: BUSY_RETRY_SECONDS,
        })
      checking += 1
      try {
        const user = await access.userByName(username)
        if (!(await check(password, user?.passwordHash)) || user === undefined)
          throw await failed(access, keys)
        await Promise.all(keys.map((key) => access.loginSucceeded(key)))
        const iat = Math.floor(Date.now() / 1000)
        const mark = passwordMark(user.passwordHash)
        const exp = iat + sessionHours * 3600
        return signLogin({ sub: String(user.id), name: user.username, mark, iat, exp }, await signingKey())
      } finally {
        checking -= 1
      }
    },
  }
}

const failed = async (access: Access, keys: readonly string[]): Promise<AppError> => {
  await Promise.all(keys.map((key) => access.loginFailed(key)))
  return new AppError('unauthorized', 'the user name or the password is wrong')
}

const refuseWaiting = async (access: Access, keys: readonly string[]): Promise<void> => {
  const waits = await Promise.all(keys.map((key) => access.loginWait(key)))
  const longest = Math.max(...waits)
  if (longest > 0)
    throw new AppError('too_many_requests', 'too many failed logins; wait before the next try', {
      retryAfter: longest / 1000,
    })
}
