import { readFileSync } from 'node:fs'
import type { Owner } from './folders.ts'

const PASSWD = '/etc/passwd'

/** A user of this machine by name or number; undefined for root. */
export function commandUser(name: string): Owner | undefined {
  const found = readFileSync(PASSWD, 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([user, , uid]) => user === name || uid === name)
  if (found === undefined)
    throw new Error(`runner.user (SCANFARM_RUNNER_USER) names ${name}, and ${PASSWD} has no such user`)
  const uid = Number(found[2])
  return uid === 0 ? undefined : { uid, gid: Number(found[3]) }
}
