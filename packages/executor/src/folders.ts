import { createHash } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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

/** Takes the place of a work folder that is closed to the user of commands, such as one below `/root`. */
const OPEN_PARENT = '/var/lib/scanfarm-work'

/** Makes the folder for the folders of runs; elsewhere, when commands of `owner` could not get into `base`. */
function openWorkFolder(base: string, owner: Owner | undefined): string {
  makePassage(base)
  if (owner === undefined || ancestors(base).every((folder) => mayEnter(folder, owner))) return base
  const away = join(OPEN_PARENT, createHash('sha256').update(base).digest('hex').slice(0, 16))
  makePassage(away)
  const closed = ancestors(away).find((folder) => !mayEnter(folder, owner))
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

const mayEnter = (folder: string, owner: Owner): boolean => {
  const { uid, gid, mode } = statSync(folder)
  if (owner.uid === 0) return true
  if (uid === owner.uid) return (mode & 0o100) !== 0
  return (mode & (gid === owner.gid ? 0o010 : 0o001)) !== 0
}

/**
 * Makes and removes the folders of attempts, for `owner` when commands run as somebody else. Most short runs leave
 * theirs empty: it is then renamed for the next run, which costs a tenth of removing one folder and making another.
 * That is safe only because the runner leaves no process of a run behind.
 */
export class WorkFolders implements AsyncDisposable {
  readonly #wished: string
  readonly #owner: Owner | undefined
  readonly #spares: string[] = []
  #base: string | undefined

  constructor(base: string, owner: Owner | undefined) {
    this.#wished = base
    this.#owner = owner
  }

  /** Where the folders really are. Throws when runs could not work anywhere. */
  get base(): string {
    return (this.#base ??= openWorkFolder(this.#wished, this.#owner))
  }

  /** Nothing is made yet. */
  of(run: ClaimedRun): RunFolders {
    return {
      attempt: join(this.base, 'runs', `${run.runUuid}-${run.attempt}`),
      workspace: join(this.base, 'workspaces', run.workspace),
    }
  }

  make(folders: RunFolders, workspaceName: string): void {
    const problem = workspaceProblem(workspaceName)
    if (problem !== undefined) throw new Error(problem)
    if (!this.#reuse(folders.attempt)) makeFolder(folders.attempt)
    makeFolder(folders.workspace)
    for (const folder of [folders.attempt, folders.workspace]) this.#claim(folder)
  }

  /** The attempt is over. Best effort: what cannot be removed is told by the rejection, and stays. */
  async clear(folders: RunFolders): Promise<void> {
    if (isEmpty(folders.attempt)) this.#spares.push(folders.attempt)
    else await rm(folders.attempt, { recursive: true, force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#spares.splice(0).map((folder) => rm(folder, { recursive: true, force: true })))
  }

  #reuse(folder: string): boolean {
    const spare = this.#spares.pop()
    if (spare === undefined) return false
    try {
      renameSync(spare, folder)
      // The run before may have opened it to others.
      chmodSync(folder, PRIVATE)
      return true
    } catch {
      return false
    }
  }

  #claim(folder: string): void {
    if (this.#owner !== undefined) chownSync(folder, this.#owner.uid, this.#owner.gid)
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

const isEmpty = (folder: string): boolean => {
  try {
    return readdirSync(folder).length === 0
  } catch {
    return false
  }
}
