import { chmod, lstat, mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const PASSABLE = 0o711
export const PRIVATE = 0o700
export const OWNER_ONLY = 0o600

/** Permissions that others must not have: they may at most pass through the folder. */
const READ_AND_WRITE = 0o066
const ANYTHING = 0o077
/** setgid: new files get the group of the folder. No umask sets it, so the folder is shared with the group on purpose. */
const HANDS_GROUP_ON = 0o2000
const GROUP = 0o070

/** Creates the folder and its missing parents. Others can pass through them, regardless of the umask. */
export const makePassable = async (folder: string): Promise<void> => {
  if ((await lstat(folder).catch(() => undefined)) !== undefined) return
  await makePassable(dirname(folder))
  await mkdir(folder, { recursive: true, mode: PASSABLE })
  await chmod(folder, PASSABLE)
}

/** Files that the programs, or redirections of their output, leave in a data folder. */
const OURS = /^admin-token$|^demo\.json$|\.log(?:\.[0-9]+)?$/
const CLOSED_FOLDERS = ['artifacts', 'uploads']

/** Removes permissions that an earlier version or another umask has given to others. Skips files of other users. */
export const closeDataDir = async (folder: string): Promise<void> => {
  await close(folder, READ_AND_WRITE)
  // Root without CAP_DAC_OVERRIDE cannot list a folder of another user, and has nothing to close there.
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
