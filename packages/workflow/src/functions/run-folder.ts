import { constants, lstat, open, realpath, stat, type FileHandle } from 'node:fs/promises'
import { codeOf } from '../fault.ts'
import { hold, inPlace, linkOut, RefusedPath, spotOf, unless, type RunPlace } from './hold.ts'

/** Opens a file; in the run's folders a regular one (or a folder) only, and none that a link or second name brings there. */
export const openFile = async (path: string, place: RunPlace, flags: number): Promise<FileHandle> =>
  await inPlace(path, place, { make: (flags & constants.O_CREAT) !== 0 }, async (held) => {
    if (!held.inside) return await open(held.path, flags)
    await refuseSpecial(held.path, path)
    // Emptied only when it is known what it is; and not to wait for the other end of a pipe.
    const careful = (flags & ~constants.O_TRUNC) | constants.O_NOFOLLOW | constants.O_NONBLOCK
    const file = await open(held.path, careful).catch((error: unknown) => {
      throw codeOf(error) === 'ELOOP' ? linkOut([path]) : error
    })
    try {
      await refuseForeign(file, path, place)
      if ((flags & constants.O_TRUNC) !== 0) await file.truncate(0)
      return file
    } catch (error) {
      await file.close()
      throw error
    }
  })

/** Opening a device may already do something. */
const refuseSpecial = async (held: string, path: string): Promise<void> => {
  const facts = await lstat(held).catch(() => undefined)
  if (facts === undefined || facts.isFile() || facts.isDirectory() || facts.isSymbolicLink()) return
  throw new RefusedPath(`${path} is neither a regular file nor a folder`)
}

const refuseForeign = async (file: FileHandle, path: string, { owner }: RunPlace): Promise<void> => {
  const facts = await file.stat()
  if (!facts.isFile() && !facts.isDirectory())
    throw new RefusedPath(`${path} is neither a regular file nor a folder`)
  if (facts.isFile() && facts.nlink > 1 && owner !== undefined && facts.uid !== owner.uid)
    throw new RefusedPath(`${path} is a hard link to a file of another user`)
}

/** Rejects when a link on the way leads out of the run's folders; for programs, which open the path themselves. */
export const refuseLinkOut = async (path: string, place: RunPlace): Promise<void> => {
  const held = await hold(path, place).catch(unless(['ENOENT', 'ENOTDIR'], () => undefined))
  await held?.[Symbol.asyncDispose]()
}

/** What lies at a path, links in the run's folders gone through; nothing when there is nothing. */
export const factsOf = async (path: string, place: RunPlace) => {
  try {
    return await inPlace(path, place, {}, async ({ path: at, inside }) =>
      inside ? await lstat(at) : await stat(at),
    )
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
  const refuse = (): never => {
    throw new RefusedPath(`${path} lies outside the run's folders`)
  }
  if ((await spotOf(path, place)) === undefined) refuse()
  return await inPlace(path, place, { make: true, lastLink: 'keep' }, async (held) => await work(held.path))
}
