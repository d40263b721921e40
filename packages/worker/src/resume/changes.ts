import type { RunFolders } from '../workspaces/work-folders.ts'
import { bytesOf, type Contents, type StoredFile } from './contents.ts'
import type { KeptEntry } from './entries.ts'
import { findEntries, openEntry, isAsFound, type FoundEntry } from './work-files.ts'

/** What has changed in the folders of a run between two looks. */
export interface Changes {
  readonly changed: readonly FoundEntry[]
  readonly removed: readonly string[]
  /** Contents that were small: the next step may change the files at once. */
  readonly bytes: ReadonlyMap<FoundEntry, Buffer>
}

/** Times of files may come from another clock. */
const CLOCK_MS = 1_000

export const sizeOfAll = (entries: readonly FoundEntry[]): number =>
  entries.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.size : 0), 0)

/** Looks through the folders of a run again and again. */
export class WatchedFolders {
  readonly #folders: RunFolders
  readonly #since = Date.now() - CLOCK_MS
  readonly #seen: Map<string, string>

  /** `seen`: signatures of known entries by path. */
  constructor(folders: RunFolders, seen: Iterable<readonly [string, string]>) {
    this.#folders = folders
    this.#seen = new Map(seen)
  }

  /** What has changed since the last look. Contents are read if all together have at most `room` bytes. */
  async look(room: number): Promise<Changes> {
    const found = await findEntries(this.#folders, this.#since, (path) => this.#seen.has(path))
    const changed = found.filter(({ path, signature }) => this.#seen.get(path) !== signature)
    const bytes = new Map<FoundEntry, Buffer>()
    if (sizeOfAll(changed) <= room)
      for (const entry of changed) {
        if (entry.kind !== 'file') continue
        using handle = openEntry(this.#folders, entry.path)
        if (handle !== undefined && isAsFound(handle, entry)) bytes.set(entry, await bytesOf(handle))
      }
    const paths = new Set(found.map(({ path }) => path))
    const removed = [...this.#seen.keys()].filter((path) => !paths.has(path))
    for (const { path, signature } of changed) this.#seen.set(path, signature)
    for (const path of removed) this.#seen.delete(path)
    return { changed, removed, bytes }
  }
}

/** What has changed in two spans, one after the other. */
export const joinedChanges = (first: Changes, then: Changes): Changes => {
  const later = new Set([...then.changed.map(({ path }) => path), ...then.removed])
  const changed = [...first.changed.filter(({ path }) => !later.has(path)), ...then.changed]
  const kept = new Set(changed)
  return {
    changed,
    removed: [...first.removed.filter((path) => !later.has(path)), ...then.removed],
    bytes: new Map([...first.bytes, ...then.bytes].filter(([entry]) => kept.has(entry))),
  }
}

/** Undefined: the content of the file is not stored. */
export const keptOf = (entry: FoundEntry, file: StoredFile | undefined): KeptEntry | undefined => {
  const { kind, mode } = entry
  if (kind === 'folder') return { kind, mode }
  if (kind === 'link') return { kind, target: entry.target }
  return file && { kind, mode, ...file }
}

export type StoredFiles = Map<string, { readonly signature: string; readonly kept: KeptEntry }>

/** Undefined: a later step has changed a file, so that this state is gone. While other steps run, what it holds now is stored. */
export const storeChanges = async (
  contents: Contents,
  folders: RunFolders,
  { changes, isParallel }: { readonly changes: Changes; readonly isParallel: boolean },
  small: ReadonlyMap<FoundEntry, StoredFile>,
): Promise<StoredFiles | undefined> => {
  /** Undefined: it has changed since. */
  const storeFile = async (entry: FoundEntry): Promise<StoredFile | undefined> => {
    using handle = openEntry(folders, entry.path)
    if (handle === undefined || !handle.facts.isFile() || handle.facts.nlink > 1) return undefined
    if (!isParallel && !isAsFound(handle, entry)) return undefined
    const file = await contents.store(handle, handle.facts.size)
    using after = openEntry(folders, entry.path)
    return isParallel || (after !== undefined && isAsFound(after, entry)) ? file : undefined
  }
  const files: StoredFiles = new Map()
  for (const entry of changes.changed) {
    const file = entry.kind === 'file' ? (small.get(entry) ?? (await storeFile(entry))) : undefined
    const kept = keptOf(entry, file)
    if (kept !== undefined) files.set(entry.path, { signature: entry.signature, kept })
    else if (!isParallel) return undefined
  }
  return files
}
