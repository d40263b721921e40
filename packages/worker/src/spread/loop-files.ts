import type { Owner } from '@scanfarm/contracts'
import { keptOf } from '../resume/changes.ts'
import { bytesOf, type Contents, type StoredFile } from '../resume/contents.ts'
import type { KeptEntry } from '../resume/entries.ts'
import type { Journal } from '../resume/journal.ts'
import { inOrder, put, type Joined } from '../resume/put.ts'
import {
  findEntries,
  openEntry,
  moveFile,
  NotResumable,
  putEntry,
  signatureAt,
  type FoundEntry,
} from '../resume/work-files.ts'
import type { RunFolders } from '../workspaces/work-folders.ts'
import { movedText } from '../workspaces/moved.ts'
import type { Change, StoredAnswer, StoredLoop } from './stored-loop.ts'

/** Smaller files are stored together. */
const SMALL = 64 * 1024
/** Bytes of small files in one object. */
const TOGETHER = 4 * 1024 * 1024

/** A file as a batch got it. */
export interface InputFile {
  readonly signature: string | undefined
  /** Of a file. */
  readonly size?: number
  readonly sha256?: string
}

type FoundFile = FoundEntry & { kind: 'file' }

/** Stores files from a byte on. */
const storeFiles = async (
  contents: Contents,
  folders: RunFolders,
  files: readonly { readonly entry: FoundFile; readonly from: number }[],
): Promise<ReadonlyMap<string, StoredFile>> => {
  const stored = new Map<string, StoredFile>()
  const small = new Map<string, Buffer>()
  let bytes = 0
  const flush = async (): Promise<void> => {
    for (const [path, file] of await contents.storeTogether(small)) stored.set(path, file)
    small.clear()
    bytes = 0
  }
  for (const { entry, from } of files) {
    using handle = openEntry(folders, entry.path)
    if (handle?.facts.isFile() !== true) continue
    if (entry.size - from < SMALL) {
      small.set(entry.path, await bytesOf(handle, from))
      bytes += entry.size - from
      if (bytes > TOGETHER) await flush()
      continue
    }
    const file = await contents.store(handle, entry.size, from)
    if (file === undefined) throw new NotResumable(`${handle.shownPath} changes all the time`)
    stored.set(entry.path, file)
  }
  await flush()
  return stored
}

/** Stores what is in the folders of a run, besides what its journal has stored. */
export const storeAll = async (
  contents: Contents,
  folders: RunFolders,
  journal: Pick<Journal, 'files'>,
): Promise<Record<string, KeptEntry>> => {
  const found = await findEntries(folders, 0, () => true)
  const known = new Map<string, StoredFile>()
  for (const { path, signature } of found) {
    const { kept, signature: stored } = journal.files.get(path) ?? {}
    if (kept?.kind === 'file' && stored === signature) known.set(path, kept)
  }
  const files = found.flatMap((entry) =>
    entry.kind === 'file' && !known.has(entry.path) ? [{ entry, from: 0 }] : [],
  )
  return allKept(found, new Map([...known, ...(await storeFiles(contents, folders, files))]))
}

const allKept = (
  found: readonly FoundEntry[],
  stored: ReadonlyMap<string, StoredFile>,
): Record<string, KeptEntry> =>
  Object.fromEntries(
    found.flatMap((entry) => {
      const kept = keptOf(entry, stored.get(entry.path))
      return kept === undefined ? [] : [[entry.path, kept] as const]
    }),
  )

/** Moves a file from the folders that an ended batch left, if it has the stored content. */
const take = async (
  contents: Contents,
  kept: RunFolders,
  folders: RunFolders,
  path: string,
  { mode, ...file }: StoredFile & { readonly mode: number },
  owner: Owner | undefined,
): Promise<boolean> => {
  try {
    using handle = openEntry(kept, path)
    if (handle === undefined || handle.facts.nlink > 1 || !(await contents.isStored(handle, file)))
      return false
    await moveFile(kept, folders, path, { owner, mode })
    return true
  } catch {
    // It is written instead.
    return false
  }
}

/** Gives a batch the files of its run. */
export const restoreAll = async (
  contents: Contents,
  folders: RunFolders,
  { folders: from, files }: Pick<StoredLoop, 'folders' | 'files'>,
  owner: Owner | undefined,
  kept: RunFolders | undefined,
): Promise<ReadonlyMap<string, InputFile>> => {
  const inputs = new Map<string, InputFile>()
  for (const [path, entry] of inOrder(Object.entries(files))) {
    const made: Parameters<typeof put>[3] =
      entry.kind === 'file'
        ? { kind: 'file', mode: entry.mode, parts: [{ file: entry, of: from }] }
        : entry.kind === 'link'
          ? { ...entry, target: movedText(entry.target, String, from, folders) }
          : entry
    const isTaken =
      kept !== undefined && entry.kind === 'file' && (await take(contents, kept, folders, path, entry, owner))
    const isMoved = !isTaken && (await put(contents, folders, path, made, owner))
    using handle = openEntry(folders, path)
    inputs.set(path, {
      signature: signatureAt(folders, path),
      ...(entry.kind === 'file' &&
        handle !== undefined && {
          size: handle.facts.size,
          sha256: isMoved ? await contents.hashOf(handle) : entry.sha256,
        }),
    })
  }
  return inputs
}

/** Stores what a batch has changed. */
export const storeChanges = async (
  contents: Contents,
  folders: RunFolders,
  inputs: ReadonlyMap<string, InputFile>,
): Promise<Record<string, Change>> => {
  const found = await findEntries(folders, 0, () => true)
  const changed = found.filter(({ path, signature }) => inputs.get(path)?.signature !== signature)
  const files: { entry: FoundFile; from: number; isRest: boolean }[] = []
  for (const entry of changed) {
    if (entry.kind !== 'file') continue
    const { size = 0, sha256 } = inputs.get(entry.path) ?? {}
    using handle = openEntry(folders, entry.path)
    const isLonger = handle !== undefined && entry.size >= size
    const isRest = sha256 === undefined || (isLonger && (await contents.beginsWith(handle, { size, sha256 })))
    files.push({ entry, from: isRest ? size : 0, isRest })
  }
  const stored = await storeFiles(contents, folders, files)
  const rests = new Set(files.filter(({ isRest }) => isRest).map(({ entry }) => entry.path))
  const paths = new Set(found.map(({ path }) => path))
  return {
    ...Object.fromEntries(
      Object.entries(allKept(changed, stored)).map(([path, kept]) => [
        path,
        { ...kept, isRest: rests.has(path) },
      ]),
    ),
    ...Object.fromEntries([...inputs.keys()].filter((path) => !paths.has(path)).map((path) => [path, null])),
  }
}

/**
 * Joins the changes of batches in the order of their items. What several batches appended to a file follows in that
 * order. If several batches rewrote a file, the version of the last one remains, and `onLost` is called with its path.
 */
export const joinChanges = async (
  contents: Contents,
  folders: RunFolders,
  loop: { readonly files: Readonly<Record<string, KeptEntry>>; readonly folders: StoredAnswer['folders'] },
  answers: readonly Pick<StoredAnswer, 'files' | 'folders'>[],
  owner: Owner | undefined,
  onLost: (path: string) => void,
): Promise<void> => {
  const joined = new Map<string, Joined | Exclude<KeptEntry, { kind: 'file' }> | null>()
  for (const { files, folders: of } of answers)
    for (const [path, change] of Object.entries(files)) {
      const known = joined.get(path)
      if (change?.kind !== 'file') {
        joined.set(
          path,
          change?.kind === 'link'
            ? { ...change, target: movedText(change.target, String, of, folders) }
            : change,
        )
        continue
      }
      const { isRest = false, mode } = change
      if (!isRest && known !== undefined) onLost(path.slice(2))
      const base = loop.files[path]
      const before =
        known?.kind === 'file' ? known.parts : base?.kind === 'file' ? [{ file: base, of: loop.folders }] : []
      joined.set(path, { kind: 'file', mode, parts: [...(isRest ? before : []), { file: change, of }] })
    }
  const removed: string[] = []
  for (const [path, entry] of inOrder(joined)) {
    if (entry === null) removed.push(path)
    else await put(contents, folders, path, entry, owner)
  }
  // What a folder contains goes before it.
  for (const path of removed.toReversed())
    if (signatureAt(folders, path) !== undefined)
      await putEntry(folders, path, owner, async (folder, name) => {
        using inner = folder.folder(name)
        await (inner === undefined ? folder.unlink(name) : folder.rmdir(name)).catch(() => undefined)
      })
}
