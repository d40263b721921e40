import { constants, lstat, open, opendir, realpath, rmdir, unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Owner } from '../execute/surroundings.ts'
import { codeOf } from '../fault.ts'
import { RefusedPath, type RunPlace } from './allowed.ts'
import { heldPath, inPlace, unless } from './hold.ts'
import { requireAccess } from './permission.ts'
import { rootsOf } from './run-folder.ts'

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Folders in folders that are removed. */
const MAX_DEPTH = 500

/** Rejects for a folder that the run's own folders lie in, such as `/`: nobody means that, an empty variable does. */
export const refuseAbove = async (path: string, place: RunPlace): Promise<void> => {
  const real = await realpath(path).catch(() => path)
  const own = [place.folders.output, place.folders.temp].filter((root) => root !== '')
  const roots = [...own.map((root) => resolve(root)), ...(await rootsOf(place))]
  const holds = (folder: string): boolean =>
    roots.some((root) => root !== folder && root.startsWith(folder.endsWith('/') ? folder : `${folder}/`))
  if (holds(resolve(path)) || holds(real)) throw new RefusedPath(`${path} holds the run's own folder`)
}

/** Removes a file or a folder with all in it; a link itself and never what it leads to. */
export const removeTree = async (path: string, place: RunPlace): Promise<void> => {
  try {
    await inPlace(path, place, { lastLink: 'keep', write: true }, async ({ path: held, own }) => {
      // In its own folders a run may also remove what containers left there.
      const owner = own ? undefined : place.owner
      if (!own) await refuseAbove(path, place)
      if (!held.endsWith('/.')) return await removeHeld(held, 0, owner)
      await emptyFolder(held, 0, owner)
      await rmdir(path)
    })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error
  }
}

const removeHeld = async (path: string, depth: number, owner: Owner | undefined): Promise<void> => {
  try {
    return await unlink(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    if (codeOf(error) !== 'EISDIR' && codeOf(error) !== 'EPERM') throw error
  }
  await emptyFolder(path, depth, owner)
  await rmdir(path)
}

const emptyFolder = async (path: string, depth: number, owner: Owner | undefined): Promise<void> => {
  if (depth >= MAX_DEPTH)
    throw new Error(`folders are more than ${MAX_DEPTH} deep; remove them with a command`)
  await using folder = await open(path, FOLDER)
  if (owner !== undefined) requireAccess(await folder.stat(), owner, 'write', path)
  for await (const { name } of await opendir(heldPath(folder)))
    await removeHeld(`${heldPath(folder)}/${name}`, depth + 1, owner)
}

/** Removes a file and no folder; false when there is nothing. */
export const removeFile = async (path: string, place: RunPlace): Promise<boolean> => {
  try {
    return await inPlace(path, place, { lastLink: 'keep', write: true }, async ({ path: held }) => {
      await unlink(held)
      return true
    })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error
    return false
  }
}

/** Removes a folder with all in it, or a link and never what it leads to; false when there is neither. */
export const removeFolder = async (path: string, place: RunPlace): Promise<boolean> => {
  const facts = await inPlace(path, place, { lastLink: 'keep', write: true }, async ({ path: held }) =>
    lstat(held),
  ).catch(unless(['ENOENT', 'ENOTDIR'], () => undefined))
  if (facts === undefined || facts.isFile()) return false
  await removeTree(path, place)
  return true
}
