import { realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { codeOf } from './errors.ts'
import { Folder, type User } from './path-handle.ts'

/** A path as a folder that no command can replace, and the names below it. */
export interface PathLocation {
  readonly root: string
  readonly parts: readonly string[]
}

/** The entry at the end of a path. Its name is `.` for the root itself. */
export interface WalkedPath<Location extends PathLocation> {
  readonly folder: Folder
  readonly name: string
  readonly location: Location
}

export interface WalkRules<Location extends PathLocation> {
  /** A link at the end is not followed but used itself. */
  readonly keepsLastLink: boolean
  openRoot(location: Location): Folder
  /** Throws if an entry of the folder must not be used. `above`: the names that lead to the folder. */
  enter?(folder: Folder, location: Location, above: readonly string[]): void
  /** Makes a missing folder; undefined: another program has made something else of this name. */
  make?(folder: Folder, name: string, location: Location): Folder | undefined
  /** The location of the target of a link; throws if it must not be used. */
  follow(target: string, from: Location, link: readonly string[]): Promise<Location> | Location
}

/** A path that may not be used in this way. */
export class RefusedPath extends Error {
  override readonly name: string = 'RefusedPath'
  readonly code = 'ERR_REFUSED_PATH'
}

/** Maximum number of links in one path. */
const MAX_LINKS = 40

/** The names from `root` to `path`; undefined if it is elsewhere. */
export const partsBelow = (root: string, path: string): string[] | undefined => {
  const rest = relative(root, path)
  if (rest === '..' || rest.startsWith(`..${sep}`) || isAbsolute(rest)) return undefined
  return rest === '' ? [] : rest.split(sep)
}

/** The path without links; the path itself if it does not exist. */
export const realPath = (path: string): string => {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}

/** Opens one folder after another, none of them through a link. At a link, returns its target instead. */
const descend = <Location extends PathLocation>(
  location: Location,
  { keepsLastLink, openRoot, enter, make }: WalkRules<Location>,
): { folder: Folder; name: string } | { target: string; link: readonly string[] } => {
  const { root, parts } = location
  const last = parts.length - 1
  let folder = openRoot(location)
  try {
    for (const [index, name] of parts.entries()) {
      const above = parts.slice(0, index)
      enter?.(folder, location, above)
      const isLast = index === last
      const next = isLast ? undefined : stepInto(folder, name, () => make?.(folder, name, location))
      if (next === undefined) {
        const text = isLast && keepsLastLink ? undefined : folder.linkOf(name)
        if (text !== undefined) {
          folder[Symbol.dispose]()
          const target = join(resolve(root, ...above, text), ...parts.slice(index + 1))
          return { target, link: parts.slice(0, index + 1) }
        }
        if (isLast) return { folder, name }
        throw Object.assign(new Error(`${[...above, name].join('/')} is not a folder`), { code: 'ENOTDIR' })
      }
      folder[Symbol.dispose]()
      folder = next
    }
    return { folder, name: '.' }
  } catch (error) {
    folder[Symbol.dispose]()
    throw error
  }
}

const stepInto = (folder: Folder, name: string, make: () => Folder | undefined): Folder | undefined => {
  try {
    return folder.folder(name)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    const made = make()
    if (made === undefined && folder.factsOf(name) === undefined) throw error
    return made
  }
}

/**
 * Opens the parent folder of a path. Commands may create links and replace folders at the same time. Therefore each
 * folder is opened relative to its parent and never through a link, and a link is followed by starting again at its
 * target, under the same rules. The caller disposes the folder.
 */
export const walk = async <Location extends PathLocation>(
  start: Location,
  rules: WalkRules<Location>,
): Promise<WalkedPath<Location>> => {
  let location = start
  for (let links = 0; links <= MAX_LINKS; links++) {
    const found = descend(location, rules)
    if ('folder' in found) return { ...found, location }
    location = await rules.follow(found.target, location, found.link)
  }
  throw new RefusedPath(`${join(start.root, ...start.parts)} goes through more than ${MAX_LINKS} links`)
}

/** The location of a path in one of the roots, by the text of the path or by the real path of the root. */
const locateIn = (roots: readonly string[], path: string): PathLocation | undefined => {
  const wanted = resolve(path)
  for (const real of [false, true])
    for (const root of roots) {
      const parts = partsBelow(real ? realPath(root) : resolve(root), wanted)
      if (parts !== undefined) return { root, parts }
    }
  return undefined
}

export interface BelowOptions {
  /** Makes missing parent folders, for this user. */
  readonly make?: { readonly owner?: User | undefined }
}

/**
 * Opens the parent folder of a path below one of the roots. Links are followed only to places below the roots, and the
 * last name is not followed. Rejects with `RefusedPath` for all other paths.
 */
export const openBelow = async (
  path: string,
  roots: readonly string[],
  { make }: BelowOptions = {},
): Promise<WalkedPath<PathLocation>> => {
  const place = (at: string): PathLocation => {
    const location = locateIn(roots, at)
    if (location === undefined) throw new RefusedPath(`${path} is outside of ${roots.join(' and ')}`)
    return location
  }
  return await walk(place(path), {
    keepsLastLink: true,
    openRoot: ({ root }) => Folder.at(root),
    follow: place,
    ...(make !== undefined && { make: (folder: Folder, name: string) => folder.makeFolder(name, make) }),
  })
}
