import { constants, mkdir, open, readlink, realpath, type FileHandle } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Folders, Owner } from '../execute/surroundings.ts'
import { codeOf, messageOf } from '../fault.ts'

/** The run whose files are worked on. */
export interface RunPlace {
  readonly folders: Pick<Folders, 'output' | 'temp'>
  /** Whom commands run as, where that is not who this process is. */
  readonly owner?: Owner | undefined
  /** Ends work on long files. */
  readonly signal?: AbortSignal
}

export interface HoldOptions {
  /** Makes the folders above, for the owner. */
  readonly make?: boolean
  /** A link at the end: gone through (the default), or itself what is meant, as for removing and renaming. */
  readonly lastLink?: 'follow' | 'keep'
}

/** A path that leads to the same place whatever is done to the folders above it. */
export interface Held extends AsyncDisposable {
  readonly path: string
  /** Does it lie in the run's folders? Then nothing at its end may be followed any more. */
  readonly inside: boolean
}

/** Links that one path may go through. */
const MAX_LINKS = 40
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY
const NO_LINK = constants.O_NOFOLLOW

const below = (root: string, path: string): string[] | undefined => {
  const rest = relative(root, path)
  if (rest === '..' || rest.startsWith(`..${sep}`) || isAbsolute(rest)) return undefined
  return rest === '' ? [] : rest.split(sep)
}

interface Spot {
  readonly root: string
  readonly parts: readonly string[]
}

/** Where in the run's folders a path lies, by its text alone; commands also name these by where they really are. */
export const spotOf = async (path: string, { folders }: RunPlace): Promise<Spot | undefined> => {
  const roots = [folders.output, folders.temp].filter((root) => root !== '').map((root) => resolve(root))
  const find = (from: string, root: string): Spot | undefined => {
    const parts = below(from, resolve(path))
    return parts && { root, parts }
  }
  for (const root of roots) {
    const spot = find(root, root)
    if (spot) return spot
  }
  for (const root of roots) {
    const spot = find(await realpath(root).catch(() => root), root)
    if (spot) return spot
  }
  return undefined
}

/** The run's own doing; the code makes it a failure of the step, as other troubles with files are. */
export class RefusedPath extends Error {
  override readonly name = 'RefusedPath'
  readonly code = 'ERR_REFUSED_PATH'
}

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
  { root, parts }: Spot,
  place: RunPlace,
  { make = false, lastLink = 'follow' }: HoldOptions,
): Promise<Walk | { readonly target: string; readonly link: readonly string[] }> => {
  const last = parts.length - 1
  let folder = await openRoot(root, place, make)
  try {
    for (const [index, part] of parts.entries()) {
      const path = `${heldPath(folder)}/${part}`
      const isLast = index === last
      const next = isLast ? undefined : await step(path, place, make)
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
  <Otherwise>(codes: readonly string[], otherwise: () => Otherwise) =>
  (error: unknown): Otherwise => {
    if (codes.includes(codeOf(error))) return otherwise()
    throw error
  }

/** The folder itself was made by who runs the workflow, so that its own path is trusted. */
const openRoot = async (root: string, place: RunPlace, make: boolean): Promise<FileHandle> =>
  await open(root, FOLDER).catch(
    unless(make ? ['ENOENT'] : [], async () => {
      await makeOutside(root, place)
      return await open(root, FOLDER)
    }),
  )

/** The next folder, or nothing when that is a link or no folder. */
const step = async (path: string, place: RunPlace, make: boolean): Promise<FileHandle | undefined> =>
  await open(path, FOLDER | NO_LINK).catch(
    unless(['ENOTDIR', 'ELOOP', ...(make ? ['ENOENT'] : [])], async () => await made(path, place, make)),
  )

const made = async (path: string, { owner }: RunPlace, make: boolean): Promise<FileHandle | undefined> => {
  const isNew =
    make &&
    (await mkdir(path).then(
      () => true,
      unless(['EEXIST'], () => false),
    ))
  if (!isNew) return undefined
  const folder = await open(path, FOLDER | NO_LINK)
  if (owner !== undefined) await folder.chown(owner.uid, owner.gid)
  return folder
}

const makeOutside = async (path: string, { owner }: RunPlace): Promise<void> => {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined || owner === undefined) return
  for (let at = resolve(path); at.length >= first.length; at = dirname(at)) {
    await using folder = await open(at, FOLDER | NO_LINK)
    await folder.chown(owner.uid, owner.gid)
  }
}

/**
 * Holds the folder in which a path ends. In the run's folders commands of another user may have put links anywhere and
 * may swap folders meanwhile: so each folder on the way is opened out of the one above and never through a link, and a
 * link is gone through only by beginning anew where its text leads, which must be in the run's folders. Rejects with an
 * error that names the link otherwise. Paths elsewhere are the author's, and taken as they are.
 */
export const hold = async (path: string, place: RunPlace, options: HoldOptions = {}): Promise<Held> => {
  let spot = await spotOf(path, place)
  if (spot === undefined) {
    if (options.make) await makeOutside(dirname(path), place)
    return { path, inside: false, [Symbol.asyncDispose]: async () => undefined }
  }
  for (let links = 0; links <= MAX_LINKS; links++) {
    const found = await descend(spot, place, options)
    if ('folder' in found) {
      const { folder, name } = found
      return {
        path: `${heldPath(folder)}/${name}`,
        inside: true,
        [Symbol.asyncDispose]: async () => await folder.close(),
      }
    }
    const next = await spotOf(found.target, place)
    if (next === undefined) throw linkOut(found.link)
    spot = next
  }
  throw new RefusedPath(`${path} goes through more than ${MAX_LINKS} links`)
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
