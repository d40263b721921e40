import { constants, lstat, mkdir, open, readlink, type FileHandle } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf, messageOf } from '../fault.ts'
import { outside, readOnly, RefusedPath, spotOf, type RunPlace, type Spot } from './allowed.ts'
import { isKept, requireAccess } from './permission.ts'

export interface HoldOptions {
  /** Makes the folders above, for the owner. */
  readonly make?: boolean
  /** The path is changed: written, removed, renamed. Default: as `make`. */
  readonly write?: boolean
  /** A link at the end: gone through (the default), or itself what is meant, as for removing and renaming. */
  readonly lastLink?: 'follow' | 'keep'
}

/** A path that leads to the same place whatever is done to the folders above it. Nothing at its end may be followed. */
export interface Held extends AsyncDisposable {
  readonly path: string
  /** It is in the folders of the run. */
  readonly own: boolean
}

/** Links that one path may go through. */
const MAX_LINKS = 40
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY
const NO_LINK = constants.O_NOFOLLOW
/** Only to go through a folder, which needs no right to list it; Node has no name for the flag. */
const O_PATH = 0o10000000

export const linkOut = (parts: readonly string[]): Error =>
  new RefusedPath(`${parts.join('/')} is a link out of the run's folder`)

export const heldPath = (folder: FileHandle): string => `/proc/self/fd/${folder.fd}`

/** Where the link at `path` leads, or nothing when it is none. */
const targetOf = async (path: string): Promise<string | undefined> =>
  await readlink(path).catch(() => undefined)

interface Walk {
  readonly folder: FileHandle
  readonly name: string
}

/** Goes down folder by folder, each held and none a link. Where there is one, answers where its text leads instead. */
const descend = async (
  { root, parts, own }: Spot,
  place: RunPlace,
  { make = false, lastLink = 'follow' }: HoldOptions,
): Promise<Walk | { readonly target: string; readonly link: readonly string[] }> => {
  const last = parts.length - 1
  let folder = await openRoot(root, place, make && own)
  try {
    for (const [index, part] of parts.entries()) {
      if (!own) requireAccess(await folder.stat(), place.owner, 'enter', join(root, ...parts.slice(0, index)))
      const path = `${heldPath(folder)}/${part}`
      const isLast = index === last
      const next = isLast ? undefined : await step(path, place, make, () => mayAdd(folder, own, place))
      if (next === undefined) {
        const text = isLast && lastLink === 'keep' ? undefined : await targetOf(path)
        if (text !== undefined) {
          const target = resolve(root, ...parts.slice(0, index), text)
          await folder.close()
          return { target: join(target, ...parts.slice(index + 1)), link: parts.slice(0, index + 1) }
        }
        if (isLast) return { folder, name: part }
        throw Object.assign(new Error(`${parts.slice(0, index + 1).join('/')} is no folder`), {
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

/** The folder itself was made by who runs the workflow, so that its own path is trusted. */
const openRoot = async (root: string, place: RunPlace, make: boolean): Promise<FileHandle> =>
  await open(root, FOLDER).catch(
    unless(make ? ['ENOENT'] : [], async () => {
      await makeRoot(root, place)
      return await open(root, FOLDER)
    }),
  )

/** The next folder, or nothing when that is a link or no folder. */
const step = async (
  path: string,
  place: RunPlace,
  make: boolean,
  mayMake: () => Promise<void>,
): Promise<FileHandle | undefined> =>
  await open(path, O_PATH | FOLDER | NO_LINK).catch(
    unless(['ENOTDIR', 'ELOOP', ...(make ? ['ENOENT'] : [])], async (error) => {
      if (codeOf(error) !== 'ENOENT') return undefined
      await mayMake()
      return await made(path, place)
    }),
  )

const made = async (path: string, { owner }: RunPlace): Promise<FileHandle | undefined> => {
  const isNew = await mkdir(path).then(
    () => true,
    unless(['EEXIST'], () => false),
  )
  // Another step may have made it meanwhile.
  if (!isNew)
    return await open(path, O_PATH | FOLDER | NO_LINK).catch(unless(['ENOTDIR', 'ELOOP'], () => undefined))
  const folder = await open(path, FOLDER | NO_LINK)
  if (owner !== undefined) await folder.chown(owner.uid, owner.gid)
  return folder
}

/** In folders that are not the run's this process may only do what the user of commands may. */
export const mayAdd = async (folder: FileHandle, own: boolean, { owner }: RunPlace): Promise<void> => {
  if (!own) requireAccess(await folder.stat(), owner, 'write', await nameOf(folder))
}

const nameOf = async (folder: FileHandle): Promise<string> => await readlink(heldPath(folder))

/** Changing names in a folder: what exists is replaced or removed, what does not is added. */
const mayChange = async (folder: FileHandle, name: string, { owner }: RunPlace): Promise<void> => {
  if (owner === undefined) return
  const facts = await folder.stat()
  requireAccess(facts, owner, 'write', await nameOf(folder))
  const entry = await lstat(`${heldPath(folder)}/${name}`).catch(() => undefined)
  if (isKept(facts, entry, owner))
    throw new RefusedPath(`${await nameOf(folder)}/${name} belongs to another user`)
}

const makeRoot = async (path: string, { owner }: RunPlace): Promise<void> => {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined || owner === undefined) return
  for (let at = resolve(path); at.length >= first.length; at = dirname(at)) {
    await using folder = await open(at, FOLDER | NO_LINK)
    await folder.chown(owner.uid, owner.gid)
  }
}

/**
 * Holds the folder in which a path ends, which must be in a folder that the workflow may use. Commands of another user
 * may have put links there and may swap folders meanwhile: so each folder on the way is opened out of the one above and
 * never through a link, and a link is followed by starting again where its text leads, under the same conditions.
 * Outside of the run's folders the user of commands must have the right to enter every folder. Rejects with an error
 * that names the path otherwise.
 */
export const hold = async (path: string, place: RunPlace, options: HoldOptions = {}): Promise<Held> => {
  const { write = options.make === true, lastLink } = options
  let spot = await spotOf(path, place)
  if (spot === undefined) throw outside(path, place)
  for (let links = 0; links <= MAX_LINKS; links++) {
    if (write && !spot.write) throw readOnly(path)
    const found = await descend(spot, place, options)
    if ('folder' in found) {
      const { folder, name } = found
      const { own } = spot
      if (write && lastLink === 'keep' && !own) await closing(folder, () => mayChange(folder, name, place))
      return {
        path: `${heldPath(folder)}/${name}`,
        own,
        [Symbol.asyncDispose]: async () => await folder.close(),
      }
    }
    const next = await spotOf(found.target, place)
    if (next === undefined) throw spot.own ? linkOut(found.link) : outside(found.target, place)
    spot = next
  }
  throw new RefusedPath(`${path} goes through more than ${MAX_LINKS} links`)
}

/** Closes the folder when the work fails. */
const closing = async (folder: FileHandle, work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    await folder.close()
    throw error
  }
}

/** Errors speak of the path that the author wrote. */
export const inAuthorsWords = (error: unknown, held: string, path: string): Error =>
  error instanceof RefusedPath || (held === path && Error.isError(error))
    ? error
    : Object.assign(new Error(messageOf(error).replaceAll(held, path), { cause: error }), {
        code: codeOf(error),
      })

/** Does work on a place while it is held. */
export const inPlace = async <Result>(
  path: string,
  place: RunPlace,
  options: HoldOptions,
  work: (held: Held) => Promise<Result>,
): Promise<Result> => {
  await using held = await hold(path, place, options)
  try {
    return await work(held)
  } catch (error) {
    throw inAuthorsWords(error, held.path, path)
  }
}
