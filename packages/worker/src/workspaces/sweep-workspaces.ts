import { randomUUID } from 'node:crypto'
import { lstatSync, renameSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { workspaceProblem, type RunStore } from '@scanfarm/contracts'
import { codeOf } from '@scanfarm/paths'
import { errorText, type Logger } from '@scanfarm/platform'
import type { Homes } from './homes.ts'
import { removeWorkFolder } from './work-folders.ts'
import { WorkspaceUses } from './workspace-uses.ts'

export interface WorkspaceSweepOptions {
  readonly store: Pick<RunStore, 'removableWorkspaces'>
  /** `Executor.folder` */
  readonly folder: string
  /** Homes of workspaces are removed with them. */
  readonly homes?: Homes | undefined
  /** Days that a folder stays after its last use on this machine; 0: until its last run is removed. */
  readonly days: number
  readonly log: Logger
}

/** Folders in one turn, and in one query; the next turn continues. */
const A_TURN = 5_000
const AT_ONCE = 500
const DAY_MS = 86_400_000
/** Prefix of renamed folders; no workspace can have it. */
const REMOVED = '~removed-'

/** Removes folders of workspaces that are out of retention and that no run uses. */
export class WorkspaceSweeper {
  readonly #options: WorkspaceSweepOptions
  readonly #uses: WorkspaceUses
  #names: AsyncIterator<string> | undefined

  constructor(options: WorkspaceSweepOptions) {
    this.#options = options
    this.#uses = new WorkspaceUses(options.folder)
  }

  /** One turn; resolves to the number of removed folders. */
  async sweepOnce(): Promise<number> {
    const { log } = this.#options
    this.#uses.sweep()
    let removed = 0
    for (let seen = 0; seen < A_TURN; seen += AT_ONCE) {
      const names = await this.#next()
      if (names.length > 0) removed += await this.#removeOf(names)
      if (names.length < AT_ONCE) break
    }
    if (removed > 0)
      log.info('folders of workspaces that are out of retention were removed', { folders: removed })
    return removed
  }

  async #next(): Promise<string[]> {
    this.#names ??= workspacesIn(join(this.#options.folder, 'workspaces'))
    const names: string[] = []
    while (names.length < AT_ONCE) {
      const next = await this.#names.next()
      if (next.done === true) {
        this.#names = undefined
        break
      }
      names.push(next.value)
    }
    return names
  }

  async #removeOf(names: readonly string[]): Promise<number> {
    const { store, days, log } = this.#options
    const left = names.filter((name) => name.startsWith(REMOVED))
    for (const name of left) await this.#removeRenamed(name)
    const lastUses = new Map<string, number>()
    for (const workspace of names) {
      if (workspaceProblem(workspace) !== undefined) continue
      const lastUse = this.#lastUse(workspace)
      if (lastUse !== undefined) lastUses.set(workspace, lastUse)
    }
    const before = Date.now() - days * DAY_MS
    const folders = [...lastUses].map(([workspace, at]) => ({ workspace, isOld: days > 0 && at < before }))
    let removed = 0
    for (const workspace of await store.removableWorkspaces(folders, days))
      try {
        if (await this.#remove(workspace, lastUses.get(workspace))) removed += 1
      } catch (error) {
        log.warn('the folder of a workspace cannot be removed', { workspace, reason: errorText(error) })
      }
    return removed
  }

  #lastUse(workspace: string): number | undefined {
    return lstatSync(this.#folderOf(workspace), { throwIfNoEntry: false })?.mtimeMs
  }

  #folderOf(workspace: string): string {
    return join(this.#options.folder, 'workspaces', workspace)
  }

  #homeOf(workspace: string): string | undefined {
    return this.#options.homes?.own(this.#folderOf(workspace))
  }

  /**
   * Renames the folder while no run can begin to use it, and then removes it, which may take long. Does nothing when a
   * run has used the folder since the query.
   */
  async #remove(workspace: string, lastUse: number | undefined): Promise<boolean> {
    const renamed = `${REMOVED}${randomUUID()}`
    const isRenamed = this.#uses.tryRemoval(workspace, () => {
      if (this.#lastUse(workspace) !== lastUse) return false
      if (!rename(this.#folderOf(workspace), this.#folderOf(renamed))) return false
      const [home, renamedHome] = [this.#homeOf(workspace), this.#homeOf(renamed)]
      if (home !== undefined && renamedHome !== undefined) rename(home, renamedHome)
      return true
    })
    if (isRenamed) await this.#removeRenamed(renamed)
    return isRenamed
  }

  /** Removes the home first: after a crash, later turns find it by the name of the folder. */
  async #removeRenamed(name: string): Promise<void> {
    const home = this.#homeOf(name)
    try {
      if (home !== undefined) await removeWorkFolder(home)
      await removeWorkFolder(this.#folderOf(name))
    } catch (error) {
      this.#options.log.warn('the folder of a workspace cannot be removed', {
        folder: name,
        reason: errorText(error),
      })
    }
  }
}

async function* workspacesIn(folder: string): AsyncGenerator<string, undefined> {
  const entries = await opendir(folder).catch(() => undefined)
  if (entries !== undefined) for await (const entry of entries) if (entry.isDirectory()) yield entry.name
}

const rename = (from: string, to: string): boolean => {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}
