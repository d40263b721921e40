import { createHash } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, readdirSync, renameSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { workspaceProblem, type ClaimedRun, type Owner, valueOr } from '@scanfarm/contracts'
import { removeFolderAt, type Folder } from '@scanfarm/paths'
import { privileges } from '../users/privileges.ts'
import { runFolderMode } from '../users/workspace-owner.ts'
import { CLOSED, makeFolder, PASSAGE } from './make-folder.ts'

export interface RunFolders {
  /** Belongs to this attempt and is removed with it. */
  readonly attempt: string
  /** Shared by all runs of the workspace on this machine; remains after the run. */
  readonly workspace: string
  /** Contains both, if no other run shares them, and is removed with the attempt. */
  readonly root?: string
  /** Of a batch: its loop. */
  readonly loop?: string
}

/** Ends the name of a folder with the files of an ended batch, which another batch of the loop may take. */
export const KEPT = '.kept'
const MOST_KEPT = 32

/** It executes items of another run, whose folders other batches have too. */
export const isBatch = ({ batch }: Pick<ClaimedRun, 'batch'>): boolean =>
  batch !== undefined && batch !== null

/** Replaces a work folder that the user of commands cannot enter, like one below `/root`. */
const OPEN_PARENT = '/var/lib/scanfarm-work'

/** Makes the folder that contains the folders of runs: `base`, or another one if `owner` cannot enter `base`. */
function openWorkFolder(base: string, owner: Owner | undefined): string {
  makePassage(base)
  if (owner === undefined || closedFolder(base, owner) === undefined) return base
  const away = join(OPEN_PARENT, createHash('sha256').update(base).digest('hex').slice(0, 16))
  makePassage(away)
  const closed = closedFolder(away, owner)
  if (closed === undefined) return away
  throw new Error(
    `commands run as the user ${owner.uid}, who cannot enter ${closed}: set worker.folder (SCANFARM_WORKER_FOLDER) or runner.user (SCANFARM_RUNNER_USER) to another value`,
  )
}

const makePassage = (folder: string): void => {
  mkdirSync(folder, { recursive: true, mode: PASSAGE })
}

const ancestors = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [...ancestors(dirname(folder)), folder]

/** The first folder of the path, itself included, that a user cannot enter. */
export const closedFolder = (path: string, owner: Owner): string | undefined =>
  ancestors(path).find((folder) => !mayEnter(folder, owner))

const mayEnter = (folder: string, owner: Owner): boolean => {
  const { uid, gid, mode } = statSync(folder)
  if (owner.uid === 0) return true
  if (uid === owner.uid) return (mode & 0o100) !== 0
  return (mode & (gid === owner.gid ? 0o010 : 0o001)) !== 0
}

/**
 * Makes and removes the folders of attempts. Most short runs leave their folder empty. It is then renamed for the next
 * run, at a tenth of the cost of removing and making a folder. That is safe because no process of a run outlives it.
 */
export class WorkFolders implements AsyncDisposable {
  readonly #configured: string
  readonly #sample: Owner | undefined
  readonly #spares: string[] = []
  readonly #kept: { readonly loop: string; readonly folder: string }[] = []
  #base: string | undefined

  /** `sample`: a user that must be able to enter the folders, if commands run as other users than this process. */
  constructor(base: string, sample: Owner | undefined) {
    this.#configured = base
    this.#sample = sample
  }

  /** The folder that contains them. Throws when commands cannot enter any. */
  get base(): string {
    return (this.#base ??= openWorkFolder(this.#configured, this.#sample))
  }

  /** Only computes the paths. */
  of(run: ClaimedRun): RunFolders {
    const attempt = join(this.base, 'runs', `${run.runUuid}-${run.attempt}`)
    return run.batch === undefined || run.batch === null
      ? { attempt, workspace: this.workspace(run.workspace) }
      : {
          root: attempt,
          attempt: join(attempt, 't'),
          workspace: join(attempt, 'w', run.workspace),
          loop: run.batch.state,
        }
  }

  workspace(name: string): string {
    return join(this.base, 'workspaces', name)
  }

  /**
   * `owner`: undefined when commands run as the user of this process. Otherwise the lease of the user has made the folder
   * of the workspace.
   */
  make(folders: RunFolders, workspaceName: string, owner: Owner | undefined): void {
    const problem = workspaceProblem(workspaceName)
    if (problem !== undefined) throw new Error(problem)
    if (folders.root !== undefined || !this.#reuse(folders.attempt)) makeFolder(folders.attempt, CLOSED)
    if (owner === undefined) {
      makeFolder(folders.workspace, CLOSED)
      return
    }
    if (runFolderMode() !== CLOSED) chmodSync(folders.attempt, runFolderMode())
    chownSync(folders.attempt, owner.uid, owner.gid)
  }

  /** Call it when the attempt has ended. Rejects when something cannot be removed. */
  async clear(folders: RunFolders): Promise<void> {
    if (folders.root !== undefined) return await removeWorkFolder(folders.root)
    // Closed first: other runs of the workspace could still add files.
    if (closeToOthers(folders.attempt) && isEmpty(folders.attempt)) this.#spares.push(folders.attempt)
    else await removeWorkFolder(folders.attempt)
  }

  /**
   * Call it when a batch has ended well and nothing reads its workspace any more: another batch of the loop may take the
   * files. Sweeps remove what none takes.
   */
  async keep({ root, loop }: RunFolders): Promise<void> {
    if (root === undefined || loop === undefined) return
    const made = join(root, 'w')
    if (!closeToOthers(made)) return
    const now = new Date()
    utimesSync(made, now, now)
    const folder = root + KEPT
    renameSync(made, folder)
    this.#kept.push({ loop, folder })
    const tooMany = Math.max(0, this.#kept.length - MOST_KEPT)
    for (const { folder: oldest } of this.#kept.splice(0, tooMany)) await removeWorkFolder(oldest)
  }

  /** Moves what an ended batch of the loop left into the folders of another, where only this process enters it. */
  takeKept({ root = '', loop }: RunFolders): string | undefined {
    const at = this.#kept.findLastIndex((one) => one.loop === loop)
    const [kept] = at === -1 ? [] : this.#kept.splice(at, 1)
    if (kept === undefined) return undefined
    const folder = join(root, 'k')
    try {
      renameSync(kept.folder, folder)
      return folder
    } catch {
      // A sweep was faster.
      return undefined
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const kept = this.#kept.splice(0).map(({ folder }) => folder)
    await Promise.all([...this.#spares.splice(0), ...kept].map(removeWorkFolder))
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

/** The previous run may have opened the folder to other users. */
const closeToOthers = (folder: string): boolean => {
  try {
    if (privileges().isRoot) chownSync(folder, 0, 0)
    chmodSync(folder, CLOSED)
    return true
  } catch {
    return false
  }
}

const isEmpty = (folder: string): boolean => valueOr(() => readdirSync(folder).length === 0, false)

/**
 * Removes a folder whose content belongs to commands, other runs of which may go on. Without the capability DAC_OVERRIDE
 * this process first becomes the owner of the folders.
 */
export const removeWorkFolder = async (folder: string): Promise<void> =>
  await removeFolderAt(folder, privileges().passesAll ? undefined : own)

const own = (folder: Folder): void => {
  try {
    if (privileges().isRoot) folder.chown({ uid: 0, gid: 0 })
    folder.chmod(CLOSED)
  } catch {
    // Removing its content reports why.
  }
}
