import { setTimeout } from 'node:timers/promises'
import { AppError } from '@scanfarm/contracts'
import type { Access } from '@scanfarm/store'
import { addressGroup } from '../http/address-group.ts'
import { CheckSlots } from './check-slots.ts'
import { signLogin } from './login-token.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { passwordMark } from './secret-hash.ts'

/** Each check takes 32 MiB and a thread of the pool for a moment. */
const CHECKS_AT_ONCE = 4
const CHECKS_WAITING = 32
/** How long an attempt is held back when there are many for its name, or for all names, from unknown addresses. */
const SLOW_MS = 3_000
const MAX_HELD_BACK = 64
const BUSY_RETRY_SECONDS = 5

export interface LoginDesk {
  /** A login token for the right pair; 401, or 429 with a waiting time after too many wrong ones. */
  login(request: { username: string; password: string; ip: string }): Promise<string>
}

export const createLoginDesk = (
  access: Access,
  signingKey: () => Promise<Uint8Array>,
  sessionHours: number,
): LoginDesk => {
  const checks = new CheckSlots({ most: CHECKS_AT_ONCE, mostWaiting: CHECKS_WAITING })
  let decoy: Promise<string> | undefined
  let heldBack = 0
  /** Unknown names take as long as wrong passwords. */
  const check = async (password: string, stored: string | undefined): Promise<boolean> => {
    const against = stored ?? (await (decoy ??= hashPassword('nobody has this password')))
    return (await verifyPassword(password, against)) && stored !== undefined
  }
  const holdBack = async (): Promise<void> => {
    if (heldBack >= MAX_HELD_BACK)
      throw new AppError('unavailable', 'too many logins at once; try again', {
        retryAfter: BUSY_RETRY_SECONDS,
      })
    heldBack += 1
    await setTimeout(SLOW_MS)
    heldBack -= 1
  }
  return {
    async login({ username, password, ip }) {
      const address = addressGroup(ip)
      const { known, waitMs, slow } = await access.loginAttempt(username, address)
      if (waitMs > 0)
        throw new AppError('too_many_requests', 'too many failed logins; wait before the next try', {
          retryAfter: waitMs / 1000,
        })
      if (slow) await holdBack()
      return checks.run(known, async () => {
        const user = await access.userByName(username)
        if (!(await check(password, user?.passwordHash)) || user === undefined)
          throw new AppError('unauthorized', 'the user name or the password is wrong')
        await access.loginSucceeded(username, address)
        const iat = Math.floor(Date.now() / 1000)
        const mark = passwordMark(user.passwordHash)
        const exp = iat + sessionHours * 3600
        return signLogin({ sub: String(user.id), name: user.username, mark, iat, exp }, await signingKey())
      })
    },
  }
}
