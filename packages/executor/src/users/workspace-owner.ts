import { chmodSync, chownSync, lstatSync, mkdirSync } from 'node:fs'
import { chmod, lchown, lstat, opendir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Owner } from '../folders.ts'
import { privileges } from './privileges.ts'

const PASSAGE = 0o711
const CLOSED = 0o700
/** Lets its owner list and enter a folder. */
const READABLE = 0o500

/** What only its owner and the worker may enter: without the right to pass everywhere the worker goes by the group. */
export const runFolderMode = (): number => (privileges().passesAll ? 0o700 : 0o770)

/** Gives the folder of a workspace to the user of its runs, with all that the user before had in it. */
export async function openWorkspace(folder: string, owner: Owner): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true, mode: PASSAGE })
  mkdirSync(folder, { recursive: true, mode: CLOSED })
  const { uid, gid } = lstatSync(folder)
  if (uid === owner.uid) return
  // At rest the group remembers whose the content is.
  const before = uid === 0 ? gid : uid
  if (before !== 0 && before !== owner.uid) await giveContent(folder, before, owner)
  chownSync(folder, process.getuid?.() ?? 0, owner.gid)
  chmodSync(folder, runFolderMode())
  chownSync(folder, owner.uid, owner.gid)
}

/** At rest the folder lets nobody but root pass, whoever gets the uid of its content next. */
export function closeWorkspace(folder: string, owner: Owner): void {
  if (lstatSync(folder, { throwIfNoEntry: false })?.uid !== owner.uid) return
  const own = process.getuid?.() ?? 0
  chownSync(folder, own, owner.gid)
  chmodSync(folder, CLOSED)
}

/**
 * Only what the user before owned: a hard link to a file of another user must not be given away. No process of that
 * user is alive, so nothing changes meanwhile. A folder belongs to this program while it is read.
 */
async function giveContent(folder: string, before: number, owner: Owner): Promise<void> {
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name)
    const found = await lstat(path)
    if (found.uid !== before) continue
    if (found.isDirectory()) {
      await lchown(path, process.getuid?.() ?? 0, owner.gid)
      if ((found.mode & READABLE) !== READABLE) await chmod(path, found.mode | READABLE)
      await giveContent(path, before, owner)
    }
    await lchown(path, owner.uid, owner.gid)
  }
}
