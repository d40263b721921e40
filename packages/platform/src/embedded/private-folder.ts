import { chmod, lstat, mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const PASSABLE = 0o711
export const PRIVATE = 0o700
export const OWNER_ONLY = 0o600

/** What others may do at most: pass through, where that is allowed. */
const READ_AND_WRITE = 0o066
const ANYTHING = 0o077
/** On a folder: what is made in it gets the folder's group. No umask sets that, only who shares it with the group. */
const HANDS_GROUP_ON = 0o2000
const GROUP = 0o070

/** Makes the folder, and those above it that are missing, passable for others whatever the umask is. */
export const makePassable = async (folder: string): Promise<void> => {
  if ((await lstat(folder).catch(() => undefined)) !== undefined) return
  await makePassable(dirname(folder))
  await mkdir(folder, { recursive: true, mode: PASSABLE })
  await chmod(folder, PASSABLE)
}

/** Files that programs of this system, or whoever redirects their output, leave in a data folder. */
const OURS = /^admin-token$|^demo\.json$|\.log(?:\.[0-9]+)?$/
const CLOSED_FOLDERS = ['artifacts', 'uploads']

/** Takes from others what an earlier version or another umask has given them. Files of other users are left alone. */
export const closeDataDir = async (folder: string): Promise<void> => {
  await close(folder, READ_AND_WRITE)
  // Root without the right to pass everywhere may not list a folder of another user, and has nothing to close there.
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EACCES') return []
    throw error
  })
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isFile() && OURS.test(entry.name)) await close(path, ANYTHING)
    if (entry.isDirectory() && CLOSED_FOLDERS.includes(entry.name)) await close(path, ANYTHING)
  }
}

const close = async (path: string, wanted: number): Promise<void> => {
  const { mode, uid } = await lstat(path)
  const own = process.getuid?.() ?? uid
  const taken = (mode & HANDS_GROUP_ON) === 0 ? wanted : wanted & ~GROUP
  if ((mode & taken) !== 0 && (own === uid || own === 0)) await chmod(path, mode & 0o7777 & ~taken)
}
