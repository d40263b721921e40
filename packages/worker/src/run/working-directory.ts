import { join } from 'node:path'
import type { Owner } from '@scanfarm/contracts'
import type { CommandUsers, UserLease } from '../users/command-users.ts'
import { openWorkspace } from '../users/workspace-owner.ts'
import type { RunFolders, WorkFolders } from '../workspaces/work-folders.ts'

export interface WorkingDirectoryParts {
  readonly folders: RunFolders
  /** Name of the workspace. */
  readonly workspace: string
  readonly users: CommandUsers
  readonly workFolders: WorkFolders
  /** Ends the wait for a user. */
  readonly signal: AbortSignal
}

/**
 * The folders of a run, and the user of its commands who owns them. They cost more than all else of a run without commands, so a
 * run whose steps are all skipped never opens them. Disposing it removes the folder of the attempt, then gives the user back.
 */
export class WorkingDirectory implements AsyncDisposable {
  readonly #parts: WorkingDirectoryParts
  #opening: Promise<void> | undefined
  #lease: UserLease | undefined
  /** Whether a batch has ended well. */
  isDone = false

  constructor(parts: WorkingDirectoryParts) {
    this.#parts = parts
  }

  /** Undefined before it is open, and when commands run as the user of this process. */
  get owner(): Owner | undefined {
    return this.#lease?.owner
  }

  /** Call it before the first command of the run, and before anything reads or writes the folders. */
  async open(): Promise<Owner | undefined> {
    await (this.#opening ??= this.#open())
    return this.owner
  }

  async #open(): Promise<void> {
    const { folders, workspace, users, workFolders, signal } = this.#parts
    const { root } = folders
    this.#lease = await users.acquire(
      root === undefined ? folders.workspace : workFolders.workspace(workspace),
      signal,
    )
    workFolders.make(folders, workspace, this.owner)
    if (root !== undefined && this.owner !== undefined) await openWorkspace(folders.workspace, this.owner)
  }

  /** Undefined, or folders with the files that an ended batch of the same loop left. */
  takeKept(): (RunFolders & { readonly kept: string }) | undefined {
    const { folders, workspace, workFolders } = this.#parts
    const kept = workFolders.takeKept(folders)
    // It has no files of the attempt.
    return kept === undefined
      ? undefined
      : { kept, workspace: join(kept, workspace), attempt: join(kept, '..', 'none') }
  }

  /** Leaves the files to other batches of the loop. Never rejects: what remains here is removed. */
  async keep(): Promise<void> {
    const { folders, workFolders } = this.#parts
    if (this.isDone) await workFolders.keep(folders).catch(() => undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opening?.catch(() => undefined)
    if (this.#lease === undefined) return
    try {
      await this.#parts.workFolders.clear(this.#parts.folders)
    } finally {
      await this.#lease.release()
    }
  }
}
