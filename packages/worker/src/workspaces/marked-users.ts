import { utimesSync } from 'node:fs'
import type { CommandUsers } from '../users/command-users.ts'
import type { WorkspaceUses } from './workspace-uses.ts'

/** The same users; marks the workspace of a run as used from before its folder is opened until it is closed. */
export const markedUsers = (
  users: CommandUsers,
  uses: () => WorkspaceUses,
  runUuid: string,
): CommandUsers => ({
  sample: users.sample,
  async acquire(workspaceFolder, signal) {
    const end = await uses().begin(workspaceFolder, runUuid, signal)
    try {
      const lease = await users.acquire(workspaceFolder, signal)
      return {
        owner: lease.owner,
        async release() {
          try {
            await lease.release()
          } finally {
            touch(workspaceFolder)
            end()
          }
        },
      }
    } catch (error) {
      end()
      throw error
    }
  },
})

/** The age of the folder counts from its last run, even if that run changed only subfolders. */
const touch = (folder: string): void => {
  try {
    utimesSync(folder, new Date(), new Date())
  } catch {
    // The run ended before its folder was made, or removed the folder.
  }
}
