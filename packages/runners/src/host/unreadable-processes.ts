import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Owner } from '@scanfarm/contracts'
import { MARKER_VARIABLE } from '../marker.ts'
import { userOf } from './process-table.ts'

/** Pids in one call, well below the limit of a command line. */
const BATCH = 2_000

/**
 * Which of the processes have the marker, if this program may not read their environments: a `grep` that runs as their
 * user reads them. Root needs this when it lacks the capability SYS_PTRACE.
 */
export async function findMarkedUnreadable(
  pids: readonly number[],
  marker: string,
  user: Owner | undefined,
): Promise<number[]> {
  if (user === undefined) return []
  const own = pids.filter((pid) => userOf(pid) === user.uid)
  const found: number[] = []
  for (let from = 0; from < own.length; from += BATCH)
    found.push(...(await grepMarker(own.slice(from, from + BATCH), marker, user)))
  return found
}

const grepMarker = async (
  pids: readonly number[],
  marker: string,
  { uid, gid }: Owner,
): Promise<number[]> => {
  const pattern = `^${MARKER_VARIABLE}=${marker.replace(/[^\w-]/g, '[$&]')}\\(#\\|$\\)`
  const files = pids.map((pid) => `/proc/${pid}/environ`)
  const options = { uid, gid, env: { PATH: '/usr/bin:/bin' }, cwd: '/' }
  // Code 1: no match; 2: a process ended meanwhile. Matches are printed in both cases.
  const { stdout } = await promisify(execFile)('grep', ['-lzs', '-e', pattern, ...files], options).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  )
  return [...stdout.matchAll(/\/proc\/(\d+)\/environ/g)].map(([, pid]) => Number(pid))
}
