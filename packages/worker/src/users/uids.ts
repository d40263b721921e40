import { readFileSync } from 'node:fs'
import type { Owner } from '@scanfarm/contracts'

const PASSWD = '/etc/passwd'

/** The one user that `runner.user` names, by name or number; undefined for root. */
export function commandUser(name: string): Owner | undefined {
  const found = readFileSync(PASSWD, 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([user, , uid]) => user === name || uid === name)
  if (found === undefined)
    throw new Error(`runner.user (SCANFARM_RUNNER_USER) is ${name}, but ${PASSWD} has no such user`)
  const uid = Number(found[2])
  return uid === 0 ? undefined : { uid, gid: Number(found[3]) }
}

/** Uids, and gids of the same numbers, that are reserved for commands; both ends included. */
export interface UidRange {
  readonly first: number
  readonly last: number
}

/** Containers with mapped users have 16-bit uids. */
const HIGHEST = 65_533

/** Undefined if `runner.user` names one user. */
export const readUidRange = (text: string): UidRange | undefined => {
  const [found, first, last] = /^(\d+)-(\d+)$/.exec(text) ?? []
  if (found === undefined) return undefined
  const range = { first: Number(first), last: Number(last) }
  if (range.first >= 1 && range.first <= range.last && range.last <= HIGHEST) return range
  throw new Error(
    `runner.user (SCANFARM_RUNNER_USER) is ${JSON.stringify(text)}: write FIRST-LAST with numbers from 1 to ${HIGHEST}, like 40000-44095`,
  )
}

/** Uids of named users, whose files and processes do not belong to runs. */
export const namedUids = (passwd = PASSWD): ReadonlySet<number> => {
  const lines = readFileSync(passwd, 'utf8').split('\n')
  return new Set(lines.map((line) => Number(line.split(':')[2])))
}

/** Whether this user namespace maps the whole range; `map` is a file like `/proc/self/uid_map`. */
export const isMapped = ({ first, last }: UidRange, map: string): boolean =>
  readFileSync(map, 'utf8')
    .trim()
    .split('\n')
    .some((line) => {
      const [start = 0, , count = 0] = line.trim().split(/\s+/).map(Number)
      return start <= first && last < start + count
    })
