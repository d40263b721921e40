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
  attempt: join(base, 'runs', run.runUuid, String(run.attempt)),
  workspace: join(base, 'workspaces', run.workspace),
})

/**
 * Makes the folders of an attempt, for `owner` when commands run as somebody else. Synchronous on purpose: they are on
 * a local disk, and a round through the thread pool costs ten times the work.
 */
export function makeRunFolders(folders: RunFolders, owner: Owner | undefined): void {
  const problem = workspaceProblem(basename(folders.workspace))
  if (problem !== undefined) throw new Error(problem)
  for (const folder of [folders.attempt, folders.workspace]) {
    mkdirSync(dirname(folder), { recursive: true, mode: PASSAGE })
    mkdirSync(folder, { recursive: true, mode: PRIVATE })
    if (owner !== undefined) chownSync(folder, owner.uid, owner.gid)
  }
}

/** Best effort: what cannot be removed is reported by the rejection and stays. */
export async function removeAttempt(folders: RunFolders): Promise<void> {
  await rm(folders.attempt, { recursive: true, force: true })
  // Another attempt may still be there, on a machine with several workers.
  await rmdir(dirname(folders.attempt)).catch(() => undefined)
}
