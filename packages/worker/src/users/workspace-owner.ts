import { chmodSync, chownSync, lstatSync } from 'node:fs'
import type { Owner } from '@scanfarm/contracts'
import { Folder } from '@scanfarm/paths'
import { CLOSED, makeFolder } from '../workspaces/make-folder.ts'
import { privileges } from './privileges.ts'

const PERMISSIONS = 0o7777
/** The owner may list and enter the folder. */
const READABLE = 0o500

/** Only the owner and the worker may enter; a worker without DAC_OVERRIDE enters by the group. */
export const runFolderMode = (): number => (privileges().passesAll ? 0o700 : 0o770)

/** Gives the folder of a workspace, and the files of its previous user in it, to the user of its runs. */
export async function openWorkspace(folder: string, owner: Owner): Promise<void> {
  if (!makeFolder(folder, runFolderMode())) {
    const { uid, gid } = lstatSync(folder)
    if (uid === owner.uid) return
    // The group of a closed folder is that of its previous user.
    await takeOver(folder, uid === 0 ? gid : uid, owner)
  }
  chownSync(folder, owner.uid, owner.gid)
}

/** `before`: the previous user, or root. */
async function takeOver(folder: string, before: number, owner: Owner): Promise<void> {
  if (before !== 0 && before !== owner.uid) {
    using handle = Folder.at(folder)
    await giveContent(handle, before, owner)
  }
  chownSync(folder, process.getuid?.() ?? 0, owner.gid)
  chmodSync(folder, runFolderMode())
}

/** Closes the folder to all users but root, so that the next user of the uid cannot read its content. */
export function closeWorkspace(folder: string, owner: Owner): void {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (found?.uid !== owner.uid) return
  const own = process.getuid?.() ?? 0
  chownSync(folder, own, owner.gid)
  if ((found.mode & PERMISSIONS) !== CLOSED) chmodSync(folder, CLOSED)
}

/** A deeper folder cannot be given: each level holds a descriptor. */
const MAX_DEPTH = 500

/**
 * Only files of the previous user: a hard link to a file of another user must not change its owner. A folder belongs to
 * this process while its entries are read.
 */
async function giveContent(folder: Folder, before: number, owner: Owner, depth = 0): Promise<void> {
  if (depth >= MAX_DEPTH) throw new Error(`folders are more than ${MAX_DEPTH} deep`)
  for await (const name of folder.eachName()) {
    using handle = folder.entry(name)
    const { uid, mode } = handle.facts
    if (uid !== before) continue
    if (handle instanceof Folder) {
      handle.chown({ uid: process.getuid?.() ?? 0, gid: owner.gid })
      if ((mode & READABLE) !== READABLE) handle.chmod((mode & PERMISSIONS) | READABLE)
      await giveContent(handle, before, owner, depth + 1)
    }
    handle.chown(owner)
  }
}
