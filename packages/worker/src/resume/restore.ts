import type { ArtifactStore, ResumePoint, Owner } from '@scanfarm/contracts'
import type { RunFolders } from '../workspaces/work-folders.ts'
import type { StoredFiles } from './changes.ts'
import type { Contents } from './contents.ts'
import type { EndedUnit, KeptEntry, KeptLoop, KeptRow, KeptState } from './entries.ts'
import { readEntries } from './entries.ts'
import { inOrder, put } from './put.ts'
import { openEntry, signatureAt } from './work-files.ts'

/** What an earlier attempt left, with its files in the folders of this attempt. */
export interface Restored extends Pick<KeptState, 'values' | 'units' | 'loops' | 'keys' | 'stop'> {
  readonly files: StoredFiles
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
  if (state.inputs !== '' && state.inputs !== options.inputs)
    throw new Error('the workflow, its params or its workspace differ')
  const owner = await options.openDirectory()
  const files: StoredFiles = new Map()
  const keys = [...state.keys]
  for (const [path, kept] of inOrder(state.files)) {
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
  const failed = point.from === 'failed' ? (state.stop ?? point.failed) : undefined
  const stop = typeof point.from === 'object' ? point.from.step : failed
  return { ...state, units, loops, files, keys, stop }
}

/** Resolves to whether a file has the stored content. */
const restoreEntry = async (
  { contents, folders }: RestoreOptions,
  path: string,
  kept: KeptEntry,
  owner: Owner | undefined,
  workspace: string,
): Promise<boolean> => {
  if (kept.kind !== 'file') return !(await put(contents, folders, path, kept, owner))
  if (workspace === folders.workspace) {
    // On the machine of the earlier attempt most files are as they were.
    using handle = openEntry(folders, path)
    if (handle !== undefined && (await contents.isStored(handle, kept))) return true
  }
  const parts = [{ file: kept, of: { ...folders, workspace } }]
  return !(await put(contents, folders, path, { kind: 'file', mode: kept.mode, parts }, owner))
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
