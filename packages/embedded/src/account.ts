import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { userInfo } from 'node:os'

/** The user of the machine that an embedded service runs as. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
  /** True if this program is root and starts the service as another user. */
  readonly drop: boolean
}

// In order of preference. `nobody` is last: commands of runs may run as `nobody`, and must not own the database.
const SERVICE_NAMES = ['scanfarm', 'postgres', 'daemon', 'nobody']

const readPasswd = (): Account[] =>
  readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid), drop: true }))
    .filter(({ uid }) => uid > 0)

const ownAccount = (): Account => {
  try {
    const { username, uid, gid } = userInfo()
    return { name: username, uid, gid, drop: false }
  } catch {
    throw new Error(
      `user id ${process.getuid?.()} has no entry in /etc/passwd, which Postgres needs: add one, or set DATABASE_URL`,
    )
  }
}

/** Postgres refuses to run as root, and needs a user with an entry in /etc/passwd. */
export const serviceAccount = (): Account => {
  if (process.getuid?.() !== 0) return ownAccount()
  const known = new Map(readPasswd().map((account) => [account.name, account]))
  const found = SERVICE_NAMES.map((name) => known.get(name)).find((account) => account !== undefined)
  if (!found)
    throw new Error(
      `Postgres cannot run as root: create one of the users ${SERVICE_NAMES.join(', ')}, or set DATABASE_URL`,
    )
  return found
}

/** The options of `spawn` to start a program as this account. */
export const credentials = ({ drop, uid, gid }: Account): { uid?: number; gid?: number } =>
  drop ? { uid, gid } : {}

const ownerBits = 0o100
const groupBits = 0o010
const otherBits = 0o001

const mayEnter = (folder: string, { uid, gid }: Account): boolean => {
  const stat = statSync(folder)
  const need = stat.uid === uid ? ownerBits : stat.gid === gid ? groupBits : otherBits
  return (stat.mode & need) !== 0
}

/** Whether the account can pass through this existing folder and all above it. */
export const canTraverse = (folder: string, account: Account): boolean => {
  if (!account.drop) return true
  const above = dirname(folder)
  return mayEnter(folder, account) && (above === folder || canTraverse(above, account))
}
