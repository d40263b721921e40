import { readFileSync } from 'node:fs'

/** Uids, and gids of the same numbers, that belong to commands alone; both ends included. */
export interface UidRange {
  readonly first: number
  readonly last: number
}

/** Above is what 16 bits cannot hold; containers that map users have no more. */
const HIGHEST = 65_533

export const readUidRange = (text: string): UidRange => {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []
  const range = { first: Number(first), last: Number(last) }
  if (range.first >= 1 && range.first <= range.last && range.last <= HIGHEST) return range
  throw new Error(
    `runner.uids (SCANFARM_RUNNER_UIDS) is ${JSON.stringify(text)}: write FIRST-LAST with numbers from 1 to ${HIGHEST}, such as 40000-44095`,
  )
}

/** Users that have a name on this machine may own files and processes that are none of ours. */
export const namedUids = (passwd = '/etc/passwd'): ReadonlySet<number> => {
  const lines = readFileSync(passwd, 'utf8').split('\n')
  return new Set(lines.map((line) => Number(line.split(':')[2])))
}

/** Whether every number of the range exists in this user namespace, by a file like `/proc/self/uid_map`. */
export const isMapped = ({ first, last }: UidRange, map: string): boolean =>
  readFileSync(map, 'utf8')
    .trim()
    .split('\n')
    .some((line) => {
      const [start = 0, , count = 0] = line.trim().split(/\s+/).map(Number)
      return start <= first && last < start + count
    })
