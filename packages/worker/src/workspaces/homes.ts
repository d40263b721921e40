import { chownSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Owner } from '@scanfarm/contracts'
import { makeHome } from '@scanfarm/runners'
import type { RunSettings } from '../settings/settings.ts'
import { openWorkspace, runFolderMode } from '../users/workspace-owner.ts'
import { CLOSED, makeFolder, PASSAGE, READABLE } from './make-folder.ts'

type HomeMode = RunSettings['runner']['homeMode']

export const skeletonOf = (home: string): string => join(home, 'skel')

/** Homes of commands on this machine that outlast a run. */
export class Homes {
  readonly #folder: string
  readonly #mode: HomeMode

  constructor(folder: string, mode: HomeMode) {
    this.#folder = folder
    this.#mode = mode
  }

  /**
   * Makes the folders that all homes need; existing ones belong to the operator and are not changed. `owner`: the user of
   * all commands, if there is only one.
   */
  prepare(owner: Owner | undefined): void {
    if (this.#mode === 'workspace') {
      makeFolder(this.#folder, PASSAGE)
      makeFolder(skeletonOf(this.#folder), READABLE)
      makeFolder(join(this.#folder, 'workspaces'), PASSAGE)
      return
    }
    const isOwned = this.#mode === 'shared-rw' && owner !== undefined
    makeFolder(this.#folder, isOwned ? CLOSED : READABLE)
    if (isOwned) chownSync(this.#folder, owner.uid, owner.gid)
  }

  of(workspaceFolder: string): string {
    return this.own(workspaceFolder) ?? this.#folder
  }

  /** The home of one workspace, if homes are not shared. */
  own(workspaceFolder: string): string | undefined {
    return this.#mode === 'workspace'
      ? join(this.#folder, 'workspaces', basename(workspaceFolder))
      : undefined
  }

  /** Call it before the first of the concurrent runs of a workspace. */
  async open(workspaceFolder: string, owner: Owner | undefined): Promise<void> {
    const home = this.own(workspaceFolder)
    if (home === undefined) return
    const mode = owner === undefined ? CLOSED : runFolderMode()
    await makeHome(home, skeletonOf(this.#folder), { owner, mode })
    if (owner !== undefined) await openWorkspace(home, owner)
  }
}
