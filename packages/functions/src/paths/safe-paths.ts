import { constants, lstat, mkdir, open, readlink, type FileHandle } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf, messageOf } from '@scanfarm/language'
import {
  outsideError,
  readOnlyError,
  RefusedPath,
  locate,
  type FileScope,
  type PathLocation,
} from './allowed.ts'
import { isSticky, requireAccess } from './permission.ts'

export interface SafePathOptions {
  /** Creates missing parent folders for the owner. */
  readonly make?: boolean
  /** The path is written, removed or renamed. Default: as `make`. */
  readonly write?: boolean
  /** How a link at the end is treated: followed (default), or used itself, as for removing and renaming. */
  readonly lastLink?: 'follow' | 'keep'
}

/** A path through an open folder descriptor. It stays valid if parent folders are replaced. Its last name must not be followed. */
export interface SafePath extends AsyncDisposable {
  readonly path: string
  /** Whether it is in the folders of the run. */
  readonly own: boolean
}

/** Maximum number of links in one path. */
const MAX_LINKS = 40
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY
const NO_LINK = constants.O_NOFOLLOW
/** Opens a folder only to traverse it, which needs no right to list it; Node has no name for the flag. */
const O_PATH = 0o10000000

export const linkOutError = (parts: readonly string[]): Error =>
  new RefusedPath(`${parts.join('/')} is a link out of the run's folder`)

export const descriptorPath = (folder: FileHandle): string => `/proc/self/fd/${folder.fd}`

/** The target of the link at `path`; undefined if it is not a link. */
const targetOf = async (path: string): Promise<string | undefined> =>
  await readlink(path).catch(() => undefined)

interface Walk {
  readonly folder: FileHandle
  readonly name: string
}

/** Opens one folder after another, none of them through a link. At a link, returns its target instead. */
const descend = async (
  { root, parts, own }: PathLocation,
  scope: FileScope,
  { make = false, lastLink = 'follow' }: SafePathOptions,
): Promise<Walk | { readonly target: string; readonly link: readonly string[] }> => {
  const last = parts.length - 1
  let folder = await openRoot(root, scope, make && own)
  try {
    for (const [index, part] of parts.entries()) {
      if (!own) requireAccess(await folder.stat(), scope.owner, 'enter', join(root, ...parts.slice(0, index)))
      const path = `${descriptorPath(folder)}/${part}`
      const isLast = index === last
      const next = isLast
        ? undefined
        : await step(path, scope, make, () => requireAddAccess(folder, own, scope))
      if (next === undefined) {
        const text = isLast && lastLink === 'keep' ? undefined : await targetOf(path)
        if (text !== undefined) {
          const target = resolve(root, ...parts.slice(0, index), text)
          await folder.close()
          return { target: join(target, ...parts.slice(index + 1)), link: parts.slice(0, index + 1) }
        }
        if (isLast) return { folder, name: part }
        throw Object.assign(new Error(`${parts.slice(0, index + 1).join('/')} is not a folder`), {
          code: 'ENOTDIR',
        })
      }
      await folder.close()
      folder = next
    }
    return { folder, name: '.' }
  } catch (error) {
    await folder.close()
    throw error
  }
}

export const unless =
  <Otherwise>(codes: readonly string[], otherwise: (error: unknown) => Otherwise) =>
  (error: unknown): Otherwise => {
    if (codes.includes(codeOf(error))) return otherwise(error)
    throw error
  }

/** The root is configured by the operator, so that its path is trusted. */
const openRoot = async (root: string, scope: FileScope, make: boolean): Promise<FileHandle> =>
  await open(root, FOLDER).catch(
    unless(make ? ['ENOENT'] : [], async () => {
      await makeRoot(root, scope)
      return await open(root, FOLDER)
    }),
  )

/** Opens the next folder; undefined if it is a link or not a folder. */
const step = async (
  path: string,
  scope: FileScope,
  make: boolean,
  mayMake: () => Promise<void>,
): Promise<FileHandle | undefined> =>
  await open(path, O_PATH | FOLDER | NO_LINK).catch(
    unless(['ENOTDIR', 'ELOOP', ...(make ? ['ENOENT'] : [])], async (error) => {
      if (codeOf(error) !== 'ENOENT') return undefined
      await mayMake()
      return await made(path, scope)
    }),
  )

const made = async (path: string, { owner }: FileScope): Promise<FileHandle | undefined> => {
  const isNew = await mkdir(path).then(
    () => true,
    unless(['EEXIST'], () => false),
  )
  // Another step may have created it in the meantime.
  if (!isNew)
    return await open(path, O_PATH | FOLDER | NO_LINK).catch(unless(['ENOTDIR', 'ELOOP'], () => undefined))
  const folder = await open(path, FOLDER | NO_LINK)
  if (owner !== undefined) await folder.chown(owner.uid, owner.gid)
  return folder
}

/** Outside the run's folders, adding an entry needs the rights of the user of commands. */
export const requireAddAccess = async (
  folder: FileHandle,
  own: boolean,
  { owner }: FileScope,
): Promise<void> => {
  if (!own) requireAccess(await folder.stat(), owner, 'write', await nameOf(folder))
}

const nameOf = async (folder: FileHandle): Promise<string> => await readlink(descriptorPath(folder))

/** Checks that the user of commands may add, replace or remove an entry of a folder. */
const requireChangeAccess = async (folder: FileHandle, name: string, { owner }: FileScope): Promise<void> => {
  if (owner === undefined) return
  const facts = await folder.stat()
  requireAccess(facts, owner, 'write', await nameOf(folder))
  const entry = await lstat(`${descriptorPath(folder)}/${name}`).catch(() => undefined)
  if (isSticky(facts, entry, owner))
    throw new RefusedPath(`${await nameOf(folder)}/${name} belongs to another user`)
}

const makeRoot = async (path: string, { owner }: FileScope): Promise<void> => {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined || owner === undefined) return
  for (let at = resolve(path); at.length >= first.length; at = dirname(at)) {
    await using folder = await open(at, FOLDER | NO_LINK)
    await folder.chown(owner.uid, owner.gid)
  }
}

/**
 * Opens the parent folder of a path, which must be in a folder that the workflow may use. Commands of another user
 * may create links and replace folders concurrently. Therefore each folder is opened relative to its parent and
 * never through a link, and a link is followed by starting again at its target, under the same conditions.
 * Outside the run's folders the user of commands must have the right to enter every folder. Rejects with an error
 * that names the path.
 */
export const openSafePath = async (
  path: string,
  scope: FileScope,
  options: SafePathOptions = {},
): Promise<SafePath> => {
  const { write = options.make === true, lastLink } = options
  let location = await locate(path, scope)
  if (location === undefined) throw outsideError(path, scope)
  for (let links = 0; links <= MAX_LINKS; links++) {
    if (write && !location.write) throw readOnlyError(path)
    const found = await descend(location, scope, options)
    if ('folder' in found) {
      const { folder, name } = found
      const { own } = location
      if (write && lastLink === 'keep' && !own)
        await closing(folder, () => requireChangeAccess(folder, name, scope))
      return {
        path: `${descriptorPath(folder)}/${name}`,
        own,
        [Symbol.asyncDispose]: async () => await folder.close(),
      }
    }
    const next = await locate(found.target, scope)
    if (next === undefined) throw location.own ? linkOutError(found.link) : outsideError(found.target, scope)
    location = next
  }
  throw new RefusedPath(`${path} goes through more than ${MAX_LINKS} links`)
}

/** Closes the folder if `work` fails. */
const closing = async (folder: FileHandle, work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    await folder.close()
    throw error
  }
}

/** An error with the path that the author wrote instead of the descriptor's. */
export const withAuthorsPath = (error: unknown, held: string, path: string): Error =>
  error instanceof RefusedPath || (held === path && Error.isError(error))
    ? error
    : Object.assign(new Error(messageOf(error).replaceAll(held, path), { cause: error }), {
        code: codeOf(error),
      })

/** Calls `work` with a safe path and closes it afterwards. */
export const withSafePath = async <Result>(
  path: string,
  scope: FileScope,
  options: SafePathOptions,
  work: (held: SafePath) => Promise<Result>,
): Promise<Result> => {
  await using held = await openSafePath(path, scope, options)
  try {
    return await work(held)
  } catch (error) {
    throw withAuthorsPath(error, held.path, path)
  }
}
