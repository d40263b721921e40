import type { Owner } from '../folders.ts'
import type { Homes } from '../homes.ts'

/** The user that the commands of a run work as, from its beginning to its end. */
export interface UserLease {
  /** Missing: commands run as this program. */
  readonly owner: Owner | undefined
  /** Call it when nothing of the run is left to do. */
  release(): Promise<void>
}

/** Decides which user of this machine the commands of a run work as. */
export interface CommandUsers {
  /** Runs of the same workspace folder share a user. Rejects when there is none to be had in time. */
  acquire(workspaceFolder: string, signal: AbortSignal): Promise<UserLease>
  /** One of the users, to see whether they can reach a folder. */
  readonly sample: Owner | undefined
}

/** All runs work as one user, or as this program. */
export const sharedUser = (owner: Owner | undefined, homes?: Homes): CommandUsers => {
  const lease = { owner, release: async () => {} }
  return {
    sample: owner,
    async acquire(workspaceFolder) {
      await homes?.open(workspaceFolder, owner)
      return lease
    },
  }
}
