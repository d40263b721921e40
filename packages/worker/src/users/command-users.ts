import type { Owner } from '@scanfarm/contracts'
import type { Homes } from '../workspaces/homes.ts'
import { openWorkspace } from './workspace-owner.ts'

/** The user that the commands of a run run as, for the duration of the run. */
export interface UserLease {
  /** Undefined: commands run as the user of this process. */
  readonly owner: Owner | undefined
  /** Call it after the run has ended and its work folder is removed. */
  release(): Promise<void>
}

/** Decides which user of this machine the commands of a run run as. */
export interface CommandUsers {
  /** Runs of a workspace folder share a user, who owns it. Rejects when no user becomes free in time. */
  acquire(workspaceFolder: string, signal: AbortSignal): Promise<UserLease>
  /** One of the users, to check whether they can enter a folder. */
  readonly sample: Owner | undefined
}

/** All commands run as one user; default: the user of this process. */
export const sharedUser = (owner: Owner | undefined, homes?: Homes): CommandUsers => {
  const lease = { owner, release: async () => {} }
  return {
    sample: owner,
    async acquire(workspaceFolder) {
      if (owner !== undefined) await openWorkspace(workspaceFolder, owner)
      await homes?.open(workspaceFolder, owner)
      return lease
    },
  }
}
