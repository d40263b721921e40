import { constants, lstat, open, opendir, realpath, rmdir, unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Owner } from '../environment.ts'
import { codeOf } from '@scanfarm/language'
import { RefusedPath, type FileScope } from './allowed.ts'
import { descriptorPath, withSafePath, unless } from './safe-paths.ts'
import { requireAccess } from './permission.ts'
import { rootsOf } from './run-folder.ts'

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Maximum depth of a folder that is removed. */
const MAX_DEPTH = 500

/** Refuses to remove a folder that contains the run's own folders, like `/`, which is usually due to an empty variable. */
export const refuseAbove = async (path: string, scope: FileScope): Promise<void> => {
  const real = await realpath(path).catch(() => path)
  const own = [scope.folders.output, scope.folders.temp].filter((root) => root !== '')
  const roots = [...own.map((root) => resolve(root)), ...(await rootsOf(scope))]
  const holds = (folder: string): boolean =>
    roots.some((root) => root !== folder && root.startsWith(folder.endsWith('/') ? folder : `${folder}/`))
  if (holds(resolve(path)) || holds(real)) throw new RefusedPath(`${path} contains the run's own folder`)
}

/** Removes a file or a folder with its content. A link is removed itself, not its target. */
export const removeTree = async (path: string, scope: FileScope): Promise<void> => {
  try {
    await withSafePath(path, scope, { lastLink: 'keep', write: true }, async ({ path: held, own }) => {
      // In its own folders a run may also remove files of containers.
      const owner = own ? undefined : scope.owner
      if (!own) await refuseAbove(path, scope)
      if (!held.endsWith('/.')) return await removeAt(held, 0, owner)
      await emptyFolder(held, 0, owner)
      await rmdir(path)
    })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error
  }
}

const removeAt = async (path: string, depth: number, owner: Owner | undefined): Promise<void> => {
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
  for await (const { name } of await opendir(descriptorPath(folder)))
    await removeAt(`${descriptorPath(folder)}/${name}`, depth + 1, owner)
}

/** Removes a file, not a folder; false if it does not exist. */
export const removeFile = async (path: string, scope: FileScope): Promise<boolean> => {
  try {
    return await withSafePath(path, scope, { lastLink: 'keep', write: true }, async ({ path: held }) => {
      await unlink(held)
      return true
    })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error
    return false
  }
}

/** Removes a folder with its content, or a link but not its target; false if there is neither. */
export const removeFolder = async (path: string, scope: FileScope): Promise<boolean> => {
  const facts = await withSafePath(path, scope, { lastLink: 'keep', write: true }, async ({ path: held }) =>
    lstat(held),
  ).catch(unless(['ENOENT', 'ENOTDIR'], () => undefined))
  if (facts === undefined || facts.isFile()) return false
  await removeTree(path, scope)
  return true
}
