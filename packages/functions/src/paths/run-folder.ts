import { constants, type FileHandle } from 'node:fs/promises'
import { RefusedPath, unless, type PathHandle } from '@scanfarm/paths'
import { ForbiddenPath, locate, type FileScope } from './allowed.ts'
import { openSafePath, withSafePath, linkOutError, requireAddAccess, type SafePath } from './safe-paths.ts'
import { isAllowed, requireAccess, type Access } from './permission.ts'

const WRITING = constants.O_WRONLY | constants.O_RDWR

/** Opens a regular file or folder with the rights of the user of commands. Links and hard links cannot add rights. */
export const openFile = async (path: string, scope: FileScope, flags: number): Promise<FileHandle> => {
  const make = (flags & constants.O_CREAT) !== 0
  const write = (flags & WRITING) !== 0
  return await withSafePath(path, scope, { make, write }, async (at) => {
    const { folder, name, own } = at
    const created = make ? await create(at, flags, scope) : undefined
    if (created !== undefined) return created
    await Promise.allSettled(creations)
    using handle = folder.entry(name)
    refuseForeign(handle, path, scope, { own, access: write ? 'write' : 'read' })
    return await handle.open(flags)
  })
}

/** Files that are created and not yet owned by the user of commands. */
const creations = new Set<Promise<FileHandle | undefined>>()

/** Creates a file owned by the user of commands; undefined if it exists. */
const create = async (
  { folder, name, own }: SafePath,
  flags: number,
  scope: FileScope,
): Promise<FileHandle | undefined> => {
  if (folder.factsOf(name) !== undefined) return undefined
  requireAddAccess(folder, own, scope)
  const { owner } = scope
  const creation = folder.create(name, { flags }).then(
    async (file) => {
      if (owner !== undefined) await file.chown(owner.uid, owner.gid).catch(() => undefined)
      return file
    },
    unless(['EEXIST'], () => undefined),
  )
  creations.add(creation)
  try {
    return await creation
  } finally {
    creations.delete(creation)
  }
}

/** Refuses devices, and files of other users that are reached by a hard link or that the run's commands may not access. */
const refuseForeign = (
  { facts }: PathHandle,
  path: string,
  { owner }: FileScope,
  { own, access }: { readonly own: boolean; readonly access: Access },
): void => {
  if (facts.isSymbolicLink()) throw linkOutError([path])
  if (!facts.isFile() && !facts.isDirectory())
    throw new RefusedPath(`${path} is neither a regular file nor a folder`)
  if (!own) return requireAccess(facts, owner, access, path)
  if (owner === undefined || facts.isDirectory() || facts.uid === owner.uid) return
  if (facts.nlink > 1) throw new RefusedPath(`${path} is a hard link to a file of another user`)
  if (!isAllowed(facts, owner, access))
    throw new RefusedPath(`${path} is a file of another user that commands may not ${access}`)
}

/** Rejects if the workflow may not use the path. For programs, which run as commands do and open the path themselves. */
export const checkPath = async (path: string, scope: FileScope, access: 'read' | 'write'): Promise<void> => {
  const safePath = await openSafePath(path, scope, { write: access === 'write' }).catch(
    unless(['ENOENT', 'ENOTDIR'], () => undefined),
  )
  safePath?.[Symbol.dispose]()
}

/** The `Stats` of a path, links inside allowed folders resolved; undefined if it does not exist. */
export const statOf = async (path: string, scope: FileScope) => {
  if (path === '') return undefined
  try {
    return await withSafePath(path, scope, {}, async ({ folder, name }) => folder.factsOf(name))
  } catch (error) {
    if (error instanceof RefusedPath) throw error
    return undefined
  }
}

/** Calls `work` with a new entry in the run's folders; other paths are refused. */
export const inRunFolder = async <Result>(
  path: string,
  scope: FileScope,
  work: (at: SafePath) => Promise<Result>,
): Promise<Result> => {
  requireOwn(path, scope, 'write')
  return await withSafePath(path, scope, { make: true, lastLink: 'keep' }, work)
}

/** Refuses paths outside of the run's folders, also those that a workflow may read. */
export const requireOwn = (path: string, scope: FileScope, access: 'read' | 'write'): void => {
  if (locate(path, scope)?.own !== true)
    throw new ForbiddenPath(`${path} is outside of the run's folders: ${access} below {{Output}}`)
}
