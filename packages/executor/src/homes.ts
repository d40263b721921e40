import { chmodSync, chownSync, lstatSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { makeHome } from '@scanfarm/runners'
import type { Owner } from './folders.ts'
import { openWorkspace, runFolderMode } from './users/workspace-owner.ts'

const PASSAGE = 0o711
const READABLE = 0o755
const CLOSED = 0o700

export interface HomeSettings {
  readonly home: string | undefined
  readonly homeMode: 'workspace' | 'shared' | 'shared-rw'
}

export const skeletonOf = (home: string): string => join(home, 'skel')

/** Homes of commands on this machine that outlast a run. */
export class Homes {
  readonly #folder: string
  readonly #mode: HomeSettings['homeMode']

  constructor(folder: string, mode: HomeSettings['homeMode']) {
    this.#folder = folder
    this.#mode = mode
  }

  /** Makes what all of them need. `owner`: whom all commands run as, where that is one user. */
  prepare(owner: Owner | undefined): void {
    if (this.#mode === 'workspace') {
      makeFolder(this.#folder, PASSAGE)
      makeFolder(skeletonOf(this.#folder), READABLE)
      return makeFolder(join(this.#folder, 'workspaces'), PASSAGE)
    }
    const isOwned = this.#mode === 'shared-rw' && owner !== undefined
    makeFolder(this.#folder, isOwned ? CLOSED : READABLE)
    if (isOwned) chownSync(this.#folder, owner.uid, owner.gid)
  }

  of(workspaceFolder: string): string {
    return this.own(workspaceFolder) ?? this.#folder
  }

  /** The home that the workspace has for itself. */
  own(workspaceFolder: string): string | undefined {
    return this.#mode === 'workspace'
      ? join(this.#folder, 'workspaces', basename(workspaceFolder))
      : undefined
  }

  /** Before the first of the runs that are in a workspace at the same time. */
  async open(workspaceFolder: string, owner: Owner | undefined): Promise<void> {
    const home = this.own(workspaceFolder)
    if (home === undefined) return
    const mode = owner === undefined ? CLOSED : runFolderMode()
    await makeHome(home, skeletonOf(this.#folder), { owner, mode })
    if (owner !== undefined) await openWorkspace(home, owner)
  }
}

/** Those that exist are the operator's. */
const makeFolder = (folder: string, mode: number): void => {
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) return
  mkdirSync(folder, { recursive: true, mode })
  chmodSync(folder, mode)
}
