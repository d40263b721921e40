import { readFileSync } from 'node:fs'
import type { Owner } from './folders.ts'

const DEFAULT_USER = 'nobody'
const PASSWD = '/etc/passwd'

/**
 * Who commands run as, where that is not the user of this program: as root they could read its secrets. `name` is the
 * name or number of a user of this machine.
 */
export function commandUser(
  name: string = DEFAULT_USER,
  isRoot = process.getuid?.() === 0,
): Owner | undefined {
  if (!isRoot) return undefined
  const found = readFileSync(PASSWD, 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([user, , uid]) => user === name || uid === name)
  if (found === undefined)
    throw new Error(`runner.user (SCANFARM_RUNNER_USER) names ${name}, and ${PASSWD} has no such user`)
  const uid = Number(found[2])
  return uid === 0 ? undefined : { uid, gid: Number(found[3]) }
}
