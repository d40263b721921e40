import { isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import type { Owner } from '@scanfarm/contracts'
import { codeOf, entriesBelow, Folder, type PathHandle } from '@scanfarm/paths'
import type { RunFolders } from '../workspaces/work-folders.ts'

/** Why the state of a run cannot be stored. */
export class NotResumable extends Error {
  override readonly name = 'NotResumable'
}

/** An entry of the folders of a run, by its path: the mark of the folder, `/` and the names. */
export type FoundEntry = {
  readonly path: string
  /** Changes with the content of a file. */
  readonly signature: string
  readonly mode: number
} & (
  | { readonly kind: 'file'; readonly size: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder' }
)

/** Entries of the folders of one run. */
const MAX_ENTRIES = 20_000
/** Entries that are read before other work of this process gets a turn. */
const A_TURN = 200
const MODE = 0o777
/** The folder of the attempt also has files of this process: outputs of steps. */
const STEP_LOG = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.log$/

const rootsOf = ({ workspace, attempt }: RunFolders): readonly (readonly [mark: string, path: string])[] => [
  ['w', workspace],
  ['t', attempt],
]

const signatureOf = ({ facts: { ino, size, mtimeMs, ctimeMs } }: PathHandle): string =>
  [ino, size, mtimeMs, ctimeMs].join(' ')

const rootAt = (path: string): Folder | undefined => {
  try {
    return Folder.at(path)
  } catch (error) {
    // The run has not used its folders.
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

const entryOf = (path: string, parent: Folder, name: Buffer, handle: PathHandle): FoundEntry | undefined => {
  const { facts } = handle
  const common = { path, signature: signatureOf(handle), mode: facts.mode & MODE }
  if (facts.isDirectory()) return { ...common, signature: 'folder', kind: 'folder' }
  if (facts.isSymbolicLink()) return { ...common, kind: 'link', target: parent.linkOf(name) ?? '' }
  // Sockets and pipes end with the commands that use them.
  if (!facts.isFile()) return undefined
  if (facts.nlink > 1)
    throw new NotResumable(`${handle.shownPath} is a hard link to a file that has other names`)
  return { ...common, kind: 'file', size: facts.size }
}

/**
 * The entries of a run's folders that have changed since a time, or that `isKnown` names. Those of earlier runs in the
 * workspace are left out.
 */
export const findEntries = async (
  folders: RunFolders,
  since: number,
  isKnown: (path: string) => boolean,
): Promise<FoundEntry[]> => {
  const found: FoundEntry[] = []
  let seen = 0
  for (const [mark, root] of rootsOf(folders)) {
    using folder = rootAt(root)
    if (folder === undefined) continue
    for await (const { parent, name, path: below, handle } of entriesBelow(folder)) {
      if (++seen > MAX_ENTRIES) throw new NotResumable(`its folders have more than ${MAX_ENTRIES} entries`)
      if (seen % A_TURN === 0) await setImmediate()
      if (!isUtf8(name)) throw new NotResumable(`the name of ${handle.shownPath} is not UTF-8`)
      const path = `${mark}/${below.toString()}`
      if (handle.facts.ctimeMs < since && !isKnown(path)) continue
      if (mark === 't' && STEP_LOG.test(below.toString())) continue
      const entry = entryOf(path, parent, name, handle)
      if (entry !== undefined) found.push(entry)
    }
  }
  return found
}

/** The folder that contains the entry, and its name. Undefined if a part of the path is not a folder any more. */
const parentOf = (
  folders: RunFolders,
  path: string,
  make?: { readonly owner: Owner | undefined },
): { folder: Folder; name: string } | undefined => {
  const [mark = '', ...parts] = path.split('/')
  const name = parts.pop() ?? ''
  const root = rootsOf(folders).find(([one]) => one === mark)?.[1]
  if (root === undefined || name === '') return undefined
  let folder: Folder | undefined = Folder.at(root)
  for (const part of parts) {
    using outer: Folder = folder
    try {
      folder = make === undefined ? outer.folder(part) : outer.makeFolder(part, { ...make, mode: 0o700 })
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      folder = undefined
    }
    if (folder === undefined) return undefined
  }
  return { folder, name }
}

/** Holds an entry without following links. Undefined: there is none. */
export const openEntry = (folders: RunFolders, path: string): PathHandle | undefined => {
  const at = parentOf(folders, path)
  if (at === undefined) return undefined
  using folder = at.folder
  try {
    return folder.entry(at.name)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Whether it is still as `findEntries` found it. */
export const isAsFound = (handle: PathHandle, { signature }: FoundEntry): boolean =>
  handle.facts.isFile() && signatureOf(handle) === signature

/** Makes an entry with `put`, and the folders above it. */
export const putEntry = async <T>(
  folders: RunFolders,
  path: string,
  owner: Owner | undefined,
  put: (folder: Folder, name: string) => Promise<T>,
): Promise<T> => {
  const at = parentOf(folders, path, { owner })
  if (at === undefined) throw new Error(`a file is in the place of a folder above ${path.slice(2)}`)
  using folder = at.folder
  return await put(folder, at.name)
}

/** Moves a file from the folders of another run, and the folders above it. */
export const moveFile = async (
  from: RunFolders,
  to: RunFolders,
  path: string,
  { owner, mode }: { readonly owner: Owner | undefined; readonly mode: number },
): Promise<void> => {
  const at = parentOf(from, path)
  if (at === undefined) throw new Error(`there is no ${path.slice(2)}`)
  using source = at.folder
  await putEntry(to, path, owner, async (folder, name) => {
    await source.rename(at.name, folder, name)
    using handle = folder.entry(name)
    if (owner !== undefined) handle.chown(owner)
    handle.chmod(mode)
  })
}

/** The present signature of an entry. */
export const signatureAt = (folders: RunFolders, path: string): string | undefined => {
  using handle = openEntry(folders, path)
  if (handle === undefined) return undefined
  return handle.facts.isDirectory() ? 'folder' : signatureOf(handle)
}
