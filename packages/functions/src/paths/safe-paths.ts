import { join } from 'node:path'
import { Folder, RefusedPath, walk, withPath, type WalkedPath } from '@scanfarm/paths'
import { outsideError, readOnlyError, locate, type FileScope, type ScopedLocation } from './allowed.ts'
import { isSticky, requireAccess } from './permission.ts'

export interface SafePathOptions {
  /** Creates missing parent folders for the owner. */
  readonly make?: boolean
  /** The path is written, removed or renamed. Default: as `make`. */
  readonly write?: boolean
  /** How a link at the end is treated: followed (default), or used itself, as for removing and renaming. */
  readonly lastLink?: 'follow' | 'keep'
}

/** An entry of an open folder. It stays valid if parent folders are replaced. */
export interface SafePath extends Disposable {
  readonly folder: Folder
  /** `.` for the folder itself. */
  readonly name: string
  /** Whether it is in the folders of the run. */
  readonly own: boolean
}

export const linkOutError = (parts: readonly string[]): Error =>
  new RefusedPath(`${parts.join('/')} is a link out of the run's folder`)

/** Outside the run's folders, adding an entry needs the rights of the user of commands. */
export const requireAddAccess = (folder: Folder, own: boolean, { owner }: FileScope): void => {
  if (!own) requireAccess(folder.facts, owner, 'write', folder.shownPath)
}

/** Checks that the user of commands may add, replace or remove an entry of a folder. */
const requireChangeAccess = ({ folder, name }: WalkedPath<ScopedLocation>, { owner }: FileScope): void => {
  if (owner === undefined) return
  const { facts } = folder
  requireAccess(facts, owner, 'write', folder.shownPath)
  if (isSticky(facts, folder.factsOf(name), owner))
    throw new RefusedPath(`${folder.shownPath}/${name} belongs to another user`)
}

/**
 * Opens the parent folder of a path, which must be in a folder that the workflow may use, as `walk` does. Outside the
 * run's folders the user of commands must have the right to enter every folder. Rejects with an error that names the path.
 */
export const openSafePath = async (
  path: string,
  scope: FileScope,
  options: SafePathOptions = {},
): Promise<SafePath> => {
  const { make = false, write = make, lastLink } = options
  const allowed = (location: ScopedLocation): ScopedLocation => {
    if (write && !location.write) throw readOnlyError(path)
    return location
  }
  const start = locate(path, scope)
  if (start === undefined) throw outsideError(path, scope)
  const found = await walk(allowed(start), {
    keepsLastLink: lastLink === 'keep',
    // The root is configured by the operator, so that its path is trusted.
    openRoot: ({ root, own }) => (make && own ? Folder.made(root, scope.owner) : Folder.at(root)),
    enter(folder, { root, own }, above) {
      if (!own) requireAccess(folder.facts, scope.owner, 'enter', join(root, ...above))
    },
    ...(make && {
      make(folder, name, { own }) {
        requireAddAccess(folder, own, scope)
        return folder.makeFolder(name, { owner: scope.owner })
      },
    }),
    follow(target, from, link) {
      const next = locate(target, scope)
      if (next === undefined) throw from.own ? linkOutError(link) : outsideError(target, scope)
      return allowed(next)
    },
  })
  const { folder, name, location } = found
  const { own } = location
  try {
    if (write && lastLink === 'keep' && !own) requireChangeAccess(found, scope)
  } catch (error) {
    folder[Symbol.dispose]()
    throw error
  }
  return { folder, name, own, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

/** Calls `work` with a safe path and closes it afterwards. */
export const withSafePath = async <Result>(
  path: string,
  scope: FileScope,
  options: SafePathOptions,
  work: (safePath: SafePath) => Promise<Result>,
): Promise<Result> => {
  using safePath = await openSafePath(path, scope, options)
  try {
    return await work(safePath)
  } catch (error) {
    throw withPath(error, path)
  }
}
