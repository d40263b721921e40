import { chownSync, mkdirSync } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { workspaceProblem, type ClaimedRun } from '@scanfarm/contracts'

export interface RunFolders {
  /** Belongs to this attempt alone, and goes with it. */
  readonly attempt: string
  /** Shared by all runs of the workspace on this machine; stays. */
  readonly workspace: string
}

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Others may pass through to what is theirs further down, and see nothing on the way. */
const PASSAGE = 0o711
const PRIVATE = 0o700

export const runFolders = (base: string, run: ClaimedRun): RunFolders => ({
  attempt: join(base, 'runs', `${run.runUuid}-${run.attempt}`),
  workspace: join(base, 'workspaces', run.workspace),
})

/**
 * Makes the folders of an attempt, for `owner` when commands run as somebody else. Synchronous on purpose: they are on
 * a local disk, and a round through the thread pool costs more than the work.
 */
export function makeRunFolders(folders: RunFolders, owner: Owner | undefined): void {
  const problem = workspaceProblem(basename(folders.workspace))
  if (problem !== undefined) throw new Error(problem)
  for (const folder of [folders.attempt, folders.workspace]) {
    makeFolder(folder)
    if (owner !== undefined) chownSync(folder, owner.uid, owner.gid)
  }
}

/** The parents are there nearly always: a run costs one call for each folder. */
const makeFolder = (folder: string): void => {
  try {
    mkdirSync(folder, PRIVATE)
  } catch (error) {
    const code = Error.isError(error) && 'code' in error ? error.code : undefined
    if (code === 'EEXIST') return
    if (code !== 'ENOENT') throw error
    mkdirSync(dirname(folder), { recursive: true, mode: PASSAGE })
    mkdirSync(folder, PRIVATE)
  }
}

export async function removeAttempt(folders: RunFolders): Promise<void> {
  const empty = await rmdir(folders.attempt).then(
    () => true,
    () => false,
  )
  if (!empty) await rm(folders.attempt, { recursive: true, force: true })
}
