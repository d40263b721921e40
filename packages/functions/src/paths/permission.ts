import type { Stats } from 'node:fs'
import type { Owner } from '@scanfarm/contracts'
import { ForbiddenPath } from './allowed.ts'

export type Access = 'read' | 'write' | 'enter'

const BITS: Readonly<Record<Access, number>> = { read: 0o4, write: 0o2, enter: 0o1 }
const STICKY = 0o1000

/** Whether the mode of a file allows the access to the user of commands. This process may have more rights. */
export const isAllowed = (
  { uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  owner: Owner,
  access: Access,
): boolean => {
  if (owner.uid === 0) return true
  const shift = uid === owner.uid ? 6 : gid === owner.gid ? 3 : 0
  return ((mode >> shift) & BITS[access]) !== 0
}

export const requireAccess = (
  facts: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  owner: Owner | undefined,
  access: Access,
  path: string,
): void => {
  if (owner === undefined || isAllowed(facts, owner, access)) return
  const verb = { read: 'read', write: 'written', enter: 'entered' }[access]
  throw new ForbiddenPath(
    `${path} may not be ${verb} by the user of commands (uid ${owner.uid}): change its mode or owner`,
  )
}

/** In a sticky folder like `/tmp` only the owner of the file or of the folder may remove or replace an entry. */
export const isSticky = (folder: Stats, entry: Stats | undefined, owner: Owner): boolean =>
  (folder.mode & STICKY) !== 0 && entry !== undefined && ![0, entry.uid, folder.uid].includes(owner.uid)
