import type { ArtifactStore, ResumePoint } from '@scanfarm/contracts'
import type { Folder } from '@scanfarm/paths'
import { movedBytes } from '../workspaces/moved.ts'
import type { Owner } from '../users/uids.ts'
import type { RunFolders } from '../workspaces/work-folders.ts'
import type { Contents, StoredFile } from './contents.ts'
import { readEntries, type EndedUnit, type KeptEntry, type KeptLoop, type KeptRow } from './entries.ts'
import { openEntry, putEntry, signatureAt } from './work-files.ts'

/** What an earlier attempt left, with its files in the folders of this attempt. */
export interface Restored {
  readonly values: ReadonlyMap<string, unknown>
  readonly units: ReadonlyMap<string, EndedUnit>
  readonly loops: ReadonlyMap<string, KeptLoop>
  readonly files: ReadonlyMap<string, { readonly signature: string; readonly kept: KeptEntry }>
  readonly keys: readonly string[]
}

export interface RestoreOptions {
  readonly artifacts: Pick<ArtifactStore, 'get'>
  readonly contents: Contents
  readonly folders: RunFolders
  readonly inputs: string
  readonly point: ResumePoint
  readonly runUuid: string
  readonly signal: AbortSignal
  /** Opens the folders of the attempt. */
  openDirectory(): Promise<Owner | undefined>
}

/** Rejects with the reason when nothing can be taken over. */
export const restore = async (options: RestoreOptions): Promise<Restored> => {
  const { artifacts, contents, folders, point } = options
  const state = await readEntries(artifacts, point, folders)
  if (state.units.size + state.loops.size + state.values.size === 0)
    throw new Error('no step before the first one to repeat is stored')
  if (state.inputs !== options.inputs) throw new Error('the workflow, its params or its workspace differ')
  const owner = await options.openDirectory()
  const files = new Map<string, { signature: string; kept: KeptEntry }>()
  const keys = [...state.keys]
  // Folders come before what they contain.
  for (const [path, kept] of [...state.files].sort(([one], [other]) => (one < other ? -1 : 1))) {
    options.signal.throwIfAborted()
    const isAsStored = await restoreEntry(options, path, kept, owner, state.workspace)
    if (kept.kind === 'file' && isAsStored) contents.note(kept)
    if (kept.kind === 'file' && !isAsStored) keys.push(kept.key)
    // Content that names the folder is stored again.
    const signature = isAsStored ? signatureAt(folders, path) : ''
    if (signature !== undefined) files.set(path, { signature, kept })
  }
  const units = new Map([...state.units].map(([key, ended]) => [key, withSource(ended, options)]))
  const loops = new Map([...state.loops].map(([key, loop]) => [key, withSource(loop, options)]))
  return { values: state.values, units, loops, files, keys }
}

/** Resolves to whether a file has the stored content. */
const restoreEntry = async (
  { contents, folders, signal }: RestoreOptions,
  path: string,
  kept: KeptEntry,
  owner: Owner | undefined,
  workspace: string,
): Promise<boolean> => {
  const isHere = workspace === folders.workspace
  if (kept.kind === 'file' && isHere && (await isInPlace(contents, folders, path, kept))) return true
  let isMoved = false
  await putEntry(folders, path, owner, async (folder: Folder, name) => {
    if (kept.kind === 'link') return void (await folder.link(name, kept.target, owner))
    if (kept.kind === 'folder') {
      using made = folder.makeFolder(name, { owner, mode: kept.mode })
      if (made === undefined) throw new Error(`${path.slice(2)} is not a folder`)
      return
    }
    const stored = await contents.read(kept)
    const onMoved = (): void => void (isMoved = true)
    const body = isHere ? stored : movedBytes(stored, { ...folders, workspace }, folders, onMoved)
    const { mode } = kept
    await folder.replace(name, async (file) => await file.writeFile(body, { signal }), { owner, mode })
  })
  return !isMoved
}

/** On the machine of the earlier attempt most files are as they were. */
const isInPlace = async (
  contents: Contents,
  folders: RunFolders,
  path: string,
  kept: StoredFile,
): Promise<boolean> => {
  using handle = openEntry(folders, path)
  return handle !== undefined && (await contents.isStored(handle, kept))
}

/** Rows name the attempt that executed them. A log of another run may be deleted with it. */
const withSource = <T extends EndedUnit | KeptLoop>(ended: T, { point, runUuid }: RestoreOptions): T => ({
  ...ended,
  rows: ended.rows.map((row): KeptRow => {
    const { record } = row
    const takenFrom = record.takenFrom ?? { runUuid: point.runUuid, attempt: point.attempt }
    const logFile = point.runUuid === runUuid ? record.logFile : ''
    return { ...row, record: { ...record, logFile, takenFrom } }
  }),
})
