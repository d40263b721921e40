import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { MARKER_VARIABLE } from '../marker.ts'
import type { User } from './launcher.ts'
import { userOf } from './process-table.ts'

/** Pids in one call; a command line holds many more. */
const BATCH = 2_000

/**
 * Which of the processes carry the marker, where this program may not read their environments: a program of their own
 * user may. Root without the capability to trace others needs that.
 */
export async function closedCarriers(
  pids: readonly number[],
  marker: string,
  user: User | undefined,
): Promise<number[]> {
  if (user === undefined) return []
  const own = pids.filter((pid) => userOf(pid) === user.uid)
  const found: number[] = []
  for (let from = 0; from < own.length; from += BATCH)
    found.push(...(await ask(own.slice(from, from + BATCH), marker, user)))
  return found
}

const ask = async (pids: readonly number[], marker: string, { uid, gid }: User): Promise<number[]> => {
  const pattern = `^${MARKER_VARIABLE}=${marker.replace(/[^\w-]/g, '[$&]')}\\(#\\|$\\)`
  const files = pids.map((pid) => `/proc/${pid}/environ`)
  const options = { uid, gid, env: { PATH: '/usr/bin:/bin' }, cwd: '/' }
  // Code 1: none; 2: a process is gone meanwhile. What was found is printed all the same.
  const { stdout } = await promisify(execFile)('grep', ['-lzs', '-e', pattern, ...files], options).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  )
  return [...stdout.matchAll(/\/proc\/(\d+)\/environ/g)].map(([, pid]) => Number(pid))
}
