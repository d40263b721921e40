import { setImmediate } from 'node:timers/promises'
import { codeOf, unless } from './errors.ts'
import { Folder, type PathHandle } from './path-handle.ts'

/** An entry below a folder. `handle` is disposed when the next entry is asked for. */
export interface TreeEntry {
  readonly parent: Folder
  readonly name: Buffer
  /** The names below the folder, separated by `/`. */
  readonly path: Buffer
  readonly handle: PathHandle
}

export interface TreeOptions {
  readonly maxDepth?: number
  /** Receives the paths of folders that this process has no permission to list; without it they reject. */
  readonly closed?: Buffer[]
}

/** Each level holds a descriptor. */
const MAX_DEPTH = 200
/** Entries are opened without waiting: after this many, of all folders, other work has a turn. */
const ENTRIES_AT_ONCE = 200
let entries = 0
const SLASH = Buffer.from('/')

/** All entries below a folder, in the order of their names. Links are not followed. */
export async function* entriesBelow(
  folder: Folder,
  options: TreeOptions = {},
  above: readonly Buffer[] = [],
): AsyncGenerator<TreeEntry> {
  const { maxDepth = MAX_DEPTH, closed } = options
  if (above.length / 2 > maxDepth) throw new Error(`the folder is nested deeper than ${maxDepth}`)
  const names = await folder.names().catch(
    unless(closed === undefined ? [] : ['EACCES'], () => {
      closed?.push(Buffer.concat(above.slice(0, -1)))
      return []
    }),
  )
  for (const name of names) {
    entries += 1
    if (entries % ENTRIES_AT_ONCE === 0) await setImmediate()
    using handle = openIfPresent(folder, name)
    if (handle === undefined) continue
    yield { parent: folder, name, path: Buffer.concat([...above, name]), handle }
    if (handle instanceof Folder) yield* entriesBelow(handle, options, [...above, name, SLASH])
  }
}

const openIfPresent = (folder: Folder, name: Buffer): PathHandle | undefined => {
  try {
    return folder.entry(name)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
