import { constants, lstat, open, realpath, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '@scanfarm/language'
import { ForbiddenPath, RefusedPath, locate, type FileScope } from './allowed.ts'
import { openSafePath, withSafePath, linkOutError, requireAddAccess, unless } from './safe-paths.ts'
import { isAllowed, requireAccess, type Access } from './permission.ts'

const WRITING = constants.O_WRONLY | constants.O_RDWR

/** Opens a regular file or folder with the rights of the user of commands. Links and hard links cannot add rights. */
export const openFile = async (path: string, scope: FileScope, flags: number): Promise<FileHandle> => {
  const make = (flags & constants.O_CREAT) !== 0
  const write = (flags & WRITING) !== 0
  return await withSafePath(path, scope, { make, write }, async ({ path: at, own }) => {
    await refuseSpecial(at, path)
    if (make && !own) await requireCreateAccess(at, scope)
    // Truncated only after its type is checked, and without waiting for the other end of a pipe.
    const careful = (flags & ~constants.O_TRUNC) | constants.O_NOFOLLOW | constants.O_NONBLOCK
    const created = make ? await create(at, careful | constants.O_EXCL, scope) : undefined
    if (created !== undefined) return created
    const file = await open(at, careful).catch((error: unknown) => {
      throw codeOf(error) === 'ELOOP' ? linkOutError([path]) : error
    })
    try {
      await refuseForeign(file, path, scope, { own, access: write ? 'write' : 'read' })
      if ((flags & constants.O_TRUNC) !== 0) await file.truncate(0)
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  })
}

/** Files that are created and not yet owned by the user of commands. */
const creations = new Set<Promise<FileHandle | undefined>>()

/** Creates a file owned by the user of commands; undefined if it exists. */
const create = async (path: string, flags: number, { owner }: FileScope): Promise<FileHandle | undefined> => {
  const creation = open(path, flags).then(
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

const requireCreateAccess = async (path: string, scope: FileScope): Promise<void> => {
  if ((await lstat(path).catch(() => undefined)) !== undefined) return
  await using folder = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
  await requireAddAccess(folder, false, scope)
}

/** Refuses devices before they are opened, because opening one may have effects. */
const refuseSpecial = async (held: string, path: string): Promise<void> => {
  const facts = await lstat(held).catch(() => undefined)
  if (facts === undefined || facts.isFile() || facts.isDirectory() || facts.isSymbolicLink()) return
  throw new RefusedPath(`${path} is neither a regular file nor a folder`)
}

/** Refuses files of other users that are reached by a hard link and that the run's commands may not access. */
const refuseForeign = async (
  file: FileHandle,
  path: string,
  { owner }: FileScope,
  { own, access }: { readonly own: boolean; readonly access: Access },
): Promise<void> => {
  await Promise.allSettled(creations)
  const facts = await file.stat()
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
  const held = await openSafePath(path, scope, { write: access === 'write' }).catch(
    unless(['ENOENT', 'ENOTDIR'], () => undefined),
  )
  await held?.[Symbol.asyncDispose]()
}

/** The `Stats` of a path, links inside allowed folders resolved; undefined if it does not exist. */
export const statOf = async (path: string, scope: FileScope) => {
  if (path === '') return undefined
  try {
    return await withSafePath(path, scope, {}, async ({ path: at }) => await lstat(at))
  } catch (error) {
    if (error instanceof RefusedPath) throw error
    return undefined
  }
}

/** The real paths of the existing folders of the run. */
export const rootsOf = async ({ folders }: FileScope): Promise<string[]> => {
  const roots: string[] = []
  for (const root of [folders.output, folders.temp]) {
    const real = await realpath(root).catch(() => undefined)
    if (real !== undefined) roots.push(real)
  }
  return roots
}

/** Calls `work` with the path of a new file in the run's folders; other paths are refused. */
export const inRunFolder = async <Result>(
  path: string,
  scope: FileScope,
  work: (path: string) => Promise<Result>,
): Promise<Result> => {
  if ((await locate(path, scope))?.own !== true)
    throw new ForbiddenPath(`${path} is outside of the run's folders: write below {{Output}}`)
  return await withSafePath(
    path,
    scope,
    { make: true, lastLink: 'keep' },
    async (held) => await work(held.path),
  )
}
