import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { User } from './launcher.ts'

/** A process of the user may kill the one that kills it, though hardly so often. */
const MOST_TRIES = 100

/** `kill` finds nothing to kill where nothing was left. */
const SCRIPT = 'kill -KILL -1; exit 0'

/**
 * One signal to all processes of a user. It is sent by a process of that user, so that the kernel finds them, those that
 * are being forked included, and none escapes by having left its group, session or environment.
 */
export const killAllOf = async ({ uid, gid }: User): Promise<boolean> => {
  const child = spawn('/bin/sh', ['-c', SCRIPT], { uid, gid, env: {}, cwd: '/', stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}

/** Repeats until the signal was sent. */
export const purgeUser = async (user: User, tryOnce: (user: User) => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) if (await tryOnce(user)) return
  throw new Error(`the processes of the user ${user.uid} could not be killed`)
}
