import { createHash } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { workspaceProblem, type ClaimedRun } from '@scanfarm/contracts'
import { removeTree } from './remove-tree.ts'
import { privileges } from './users/privileges.ts'
import { runFolderMode } from './users/workspace-owner.ts'

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

/** Takes the place of a work folder that is closed to the user of commands, such as one below `/root`. */
const OPEN_PARENT = '/var/lib/scanfarm-work'

/** Makes the folder for the folders of runs; elsewhere, when commands of `owner` could not get into `base`. */
function openWorkFolder(base: string, owner: Owner | undefined): string {
  makePassage(base)
  if (owner === undefined || closedFolder(base, owner) === undefined) return base
  const away = join(OPEN_PARENT, createHash('sha256').update(base).digest('hex').slice(0, 16))
  makePassage(away)
  const closed = closedFolder(away, owner)
  if (closed === undefined) return away
  throw new Error(
    `commands run as the user ${owner.uid}, who may not enter ${closed}: choose another worker.folder (SCANFARM_WORKER_FOLDER) or runner.user (SCANFARM_RUNNER_USER)`,
  )
}

const makePassage = (folder: string): void => {
  mkdirSync(folder, { recursive: true, mode: PASSAGE })
}

const ancestors = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [...ancestors(dirname(folder)), folder]

/** The first folder on the way, the last one included, that a user may not enter. */
export const closedFolder = (path: string, owner: Owner): string | undefined =>
  ancestors(path).find((folder) => !mayEnter(folder, owner))

const mayEnter = (folder: string, owner: Owner): boolean => {
  const { uid, gid, mode } = statSync(folder)
  if (owner.uid === 0) return true
  if (uid === owner.uid) return (mode & 0o100) !== 0
  return (mode & (gid === owner.gid ? 0o010 : 0o001)) !== 0
}

/**
 * Makes and removes the folders of attempts. Most short runs leave
 * theirs empty: it is then renamed for the next run, which costs a tenth of removing one folder and making another.
 * That is safe only because the runner leaves no process of a run behind.
 */
export class WorkFolders implements AsyncDisposable {
  readonly #wished: string
  readonly #sample: Owner | undefined
  readonly #spares: string[] = []
  #base: string | undefined

  /** `sample`: a user that must reach the folders, where commands run as others than this process. */
  constructor(base: string, sample: Owner | undefined) {
    this.#wished = base
    this.#sample = sample
  }

  /** Where the folders really are. Throws when runs could not work anywhere. */
  get base(): string {
    return (this.#base ??= openWorkFolder(this.#wished, this.#sample))
  }

  /** Nothing is made yet. */
  of(run: ClaimedRun): RunFolders {
    return {
      attempt: join(this.base, 'runs', `${run.runUuid}-${run.attempt}`),
      workspace: join(this.base, 'workspaces', run.workspace),
    }
  }

  /** For commands of `owner`, where that is not this process. */
  make(folders: RunFolders, workspaceName: string, owner: Owner | undefined): void {
    const problem = workspaceProblem(workspaceName)
    if (problem !== undefined) throw new Error(problem)
    if (!this.#reuse(folders.attempt)) makeFolder(folders.attempt)
    makeFolder(folders.workspace)
    if (owner === undefined) return
    if (runFolderMode() !== PRIVATE) chmodSync(folders.attempt, runFolderMode())
    for (const folder of [folders.attempt, folders.workspace]) chownSync(folder, owner.uid, owner.gid)
  }

  /** The attempt is over. Best effort: what cannot be removed is told by the rejection, and stays. */
  async clear(folders: RunFolders): Promise<void> {
    if (isEmpty(folders.attempt) && takeBack(folders.attempt)) this.#spares.push(folders.attempt)
    else await removeTree(folders.attempt)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#spares.splice(0).map((folder) => rm(folder, { recursive: true, force: true })))
  }

  #reuse(folder: string): boolean {
    const spare = this.#spares.pop()
    if (spare === undefined) return false
    try {
      renameSync(spare, folder)
      return true
    } catch {
      return false
    }
  }
}

/** Synchronous, because a round through the thread pool costs many times the call. */
const makeFolder = (folder: string): void => {
  try {
    mkdirSync(folder, PRIVATE)
  } catch (error) {
    const code = Error.isError(error) && 'code' in error ? error.code : undefined
    if (code === 'EEXIST') return
    if (code !== 'ENOENT') throw error
    mkdirSync(dirname(folder), { recursive: true, mode: PASSAGE })
    mkdirSync(folder, { recursive: true, mode: PRIVATE })
  }
}

/** The run before may have opened it to others. */
const takeBack = (folder: string): boolean => {
  try {
    if (privileges().isRoot) chownSync(folder, 0, 0)
    chmodSync(folder, PRIVATE)
    return true
  } catch {
    return false
  }
}

const isEmpty = (folder: string): boolean => {
  try {
    return readdirSync(folder).length === 0
  } catch {
    return false
  }
}
