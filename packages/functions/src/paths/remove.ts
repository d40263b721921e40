import { resolve } from 'node:path'
import { codeOf } from '@scanfarm/language'
import { realPath, RefusedPath, removeFolderAt, removeTree as removeEntry, unless } from '@scanfarm/paths'
import { ownRoots, type FileScope } from './allowed.ts'
import { withSafePath } from './safe-paths.ts'
import { requireAccess } from './permission.ts'

/** Refuses to remove a folder that contains the run's own folders, like `/`, which is usually due to an empty variable. */
export const refuseAbove = (path: string, scope: FileScope): void => {
  const real = realPath(path)
  const own = ownRoots(scope)
  const roots = [...own, ...own.map(realPath)]
  const contains = (folder: string): boolean =>
    roots.some((root) => root !== folder && root.startsWith(folder.endsWith('/') ? folder : `${folder}/`))
  if (contains(resolve(path)) || contains(real))
    throw new RefusedPath(`${path} contains the run's own folder`)
}

/** Removes a file or a folder with its content. A link is removed itself, not its target. */
export const removeTree = async (path: string, scope: FileScope): Promise<void> => {
  try {
    await withSafePath(path, scope, { lastLink: 'keep', write: true }, async ({ folder, name, own }) => {
      // In its own folders a run may also remove files of containers.
      if (own) return await (name === '.' ? removeFolderAt(realPath(path)) : removeEntry(folder, name))
      refuseAbove(path, scope)
      await removeEntry(folder, name, ({ facts, shownPath }) =>
        requireAccess(facts, scope.owner, 'write', shownPath),
      )
    })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error
  }
}

/** Removes a file, not a folder; false if it does not exist. */
export const removeFile = async (path: string, scope: FileScope): Promise<boolean> => {
  try {
    return await withSafePath(path, scope, { lastLink: 'keep', write: true }, async ({ folder, name }) => {
      await folder.unlink(name)
      return true
    })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error
    return false
  }
}

/** Removes a folder with its content, or a link but not its target; false if there is neither. */
export const removeFolder = async (path: string, scope: FileScope): Promise<boolean> => {
  const facts = await withSafePath(path, scope, { lastLink: 'keep', write: true }, async ({ folder, name }) =>
    folder.factsOf(name),
  ).catch(unless(['ENOENT', 'ENOTDIR'], () => undefined))
  if (facts === undefined || facts.isFile()) return false
  await removeTree(path, scope)
  return true
}
