import { constants, lstat, open, realpath, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../fault.ts'
import { ForbiddenPath, RefusedPath, spotOf, type RunPlace } from './allowed.ts'
import { hold, inPlace, linkOut, mayAdd, unless } from './hold.ts'
import { isAllowed, requireAccess, type Access } from './permission.ts'

const WRITING = constants.O_WRONLY | constants.O_RDWR

/** Opens a regular file (or a folder) with the rights of the user of commands, and none that a link or second name brings there. */
export const openFile = async (path: string, place: RunPlace, flags: number): Promise<FileHandle> => {
  const make = (flags & constants.O_CREAT) !== 0
  const write = (flags & WRITING) !== 0
  return await inPlace(path, place, { make, write }, async ({ path: at, own }) => {
    await refuseSpecial(at, path)
    if (make && !own) await mayCreate(at, place)
    // Emptied only when it is known what it is; and not to wait for the other end of a pipe.
    const careful = (flags & ~constants.O_TRUNC) | constants.O_NOFOLLOW | constants.O_NONBLOCK
    const created = make ? await create(at, careful | constants.O_EXCL, place) : undefined
    if (created !== undefined) return created
    const file = await open(at, careful).catch((error: unknown) => {
      throw codeOf(error) === 'ELOOP' ? linkOut([path]) : error
    })
    try {
      await refuseForeign(file, path, place, { own, access: write ? 'write' : 'read' })
      if ((flags & constants.O_TRUNC) !== 0) await file.truncate(0)
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  })
}

/** Files that do not belong to the user of commands yet. */
const creations = new Set<Promise<FileHandle | undefined>>()

/** A new file that belongs to the user of commands, or nothing when there is one. */
const create = async (path: string, flags: number, { owner }: RunPlace): Promise<FileHandle | undefined> => {
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

const mayCreate = async (path: string, place: RunPlace): Promise<void> => {
  if ((await lstat(path).catch(() => undefined)) !== undefined) return
  await using folder = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
  await mayAdd(folder, false, place)
}

/** Opening a device may already do something. */
const refuseSpecial = async (held: string, path: string): Promise<void> => {
  const facts = await lstat(held).catch(() => undefined)
  if (facts === undefined || facts.isFile() || facts.isDirectory() || facts.isSymbolicLink()) return
  throw new RefusedPath(`${path} is neither a regular file nor a folder`)
}

/** A second name for a file of another user gives a run no rights that its commands do not have. */
const refuseForeign = async (
  file: FileHandle,
  path: string,
  { owner }: RunPlace,
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

/** Rejects for a path that the workflow may not use; for programs, which run as commands do and open it themselves. */
export const checkPath = async (path: string, place: RunPlace, access: 'read' | 'write'): Promise<void> => {
  const held = await hold(path, place, { write: access === 'write' }).catch(
    unless(['ENOENT', 'ENOTDIR'], () => undefined),
  )
  await held?.[Symbol.asyncDispose]()
}

/** What lies at a path, links in the run's folders gone through; nothing when there is nothing. */
export const factsOf = async (path: string, place: RunPlace) => {
  if (path === '') return undefined
  try {
    return await inPlace(path, place, {}, async ({ path: at }) => await lstat(at))
  } catch (error) {
    if (error instanceof RefusedPath) throw error
    return undefined
  }
}

/** The folders of the run that are there, as they really are. */
export const rootsOf = async ({ folders }: RunPlace): Promise<string[]> => {
  const roots: string[] = []
  for (const root of [folders.output, folders.temp]) {
    const real = await realpath(root).catch(() => undefined)
    if (real !== undefined) roots.push(real)
  }
  return roots
}

/** Does work on a file of the run's folders that is about to be made; other places are refused. */
export const inRunFolder = async <Result>(
  path: string,
  place: RunPlace,
  work: (path: string) => Promise<Result>,
): Promise<Result> => {
  if ((await spotOf(path, place))?.own !== true)
    throw new ForbiddenPath(`${path} is outside of the run's folders: write below {{Output}}`)
  return await inPlace(path, place, { make: true, lastLink: 'keep' }, async (held) => await work(held.path))
}
