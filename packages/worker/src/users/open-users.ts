import { accessSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Owner } from '@scanfarm/contracts'
import type { UidRange } from './uids.ts'
import type { Homes } from '../workspaces/homes.ts'
import type { Isolation } from './isolation.ts'
import { sharedUser, type CommandUsers } from './command-users.ts'
import { privileges } from './privileges.ts'
import { UserPool } from './user-pool.ts'

const MACHINE = '/var/lib/scanfarm-uids'

/**
 * The folder of the uid claims of all programs on this machine, or one below `folder` when it is not writable. It must
 * survive a restart of the machine, like the folders of workspaces.
 */
const claimsFolder = (folder: string): string => {
  try {
    mkdirSync(MACHINE, { recursive: true, mode: 0o700 })
    accessSync(MACHINE, constants.W_OK)
    return MACHINE
  } catch {
    return join(folder, 'uids')
  }
}

/** Root without the capability DAC_OVERRIDE accesses files of commands as a member of their groups. */
const joinGroups = ({ first, last }: UidRange): void =>
  process.setgroups?.([0, ...Array.from({ length: last - first + 1 }, (_, index) => first + index)])

/** The users that commands run as; `folder` is the work folder of the runs. */
export function openUsers(
  isolation: Isolation,
  folder: string,
  endUser: (user: Owner, areOurs: boolean) => Promise<void>,
  homes?: Homes,
): CommandUsers {
  if (isolation.kind === 'user') return sharedUser(isolation.owner, homes)
  if (isolation.kind !== 'uids') return sharedUser(undefined, homes)
  if (!privileges().passesAll) joinGroups(isolation.range)
  return new UserPool({ range: isolation.range, folder: claimsFolder(folder), endUser, homes })
}
