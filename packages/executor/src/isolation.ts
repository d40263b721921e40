import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { findSandbox, type HostRunnersOptions, type Sandbox } from '@scanfarm/runners'
import { parseAllowedPaths } from '@scanfarm/workflow'
import { commandUser } from './command-user.ts'
import type { Owner } from './folders.ts'
import { skeletonOf, type HomeSettings } from './homes.ts'
import type { ExecutorLog } from './log.ts'
import { isOpenToOthers, isPrivate } from './open-files.ts'
import { readableFolders, type ToolFolders } from './tool-folders.ts'
import { privileges, type Privileges } from './users/privileges.ts'
import { isMapped, readUidRange, type UidRange } from './users/uid-range.ts'

export type IsolationChoice = 'auto' | 'require' | 'uids' | 'bubblewrap' | 'none'

/** What keeps the commands of runs on this machine apart from this program and from each other. */
export type Isolation =
  | { readonly kind: 'uids'; readonly range: UidRange }
  | { readonly kind: 'bubblewrap'; readonly sandbox: Sandbox }
  /** All runs work as one user, which is not that of this program. */
  | { readonly kind: 'user'; readonly owner: Owner; readonly problem: string }
  | { readonly kind: 'none'; readonly problem: string }

export interface IsolationSettings {
  /** What nothing but this program should read. */
  readonly files: readonly { readonly path: string; readonly holdsSecrets: boolean }[]
  readonly dataDir: string
  readonly artifacts: { readonly folder: string }
  readonly workflows: { readonly folders: readonly string[] }
  readonly worker: { readonly folder: string }
  readonly runner: {
    readonly path: string
    readonly user: string | undefined
    readonly uids: string
    readonly isolation: IsolationChoice
    readonly dockerSocket: string
    readonly paths: readonly string[]
    readonly home: string | undefined
    readonly homeMode: HomeSettings['homeMode']
  }
  readonly folders: ToolFolders
}

const REACH =
  'a step can read the environment, the secrets and the files of this program, and those of every other run'

/** What these settings give on this machine, whatever they demand. */
export function findIsolation(settings: IsolationSettings, held: Privileges = privileges()): Isolation {
  const { user, uids, isolation } = settings.runner
  if (isolation === 'none') return { kind: 'none', problem: `runner.isolation is none: ${REACH}` }
  if (!held.isRoot) return inSandbox(settings)
  if (user !== undefined) return asUser(user)
  const range = readUidRange(uids)
  const problem = rangeProblem(range, uids, held)
  if (problem === undefined) return { kind: 'uids', range }
  return { kind: 'none', problem: `${problem}: ${REACH}` }
}

const rangeProblem = (range: UidRange, uids: string, held: Privileges): string | undefined => {
  if (!held.changesUsers)
    return 'this program is root without the capabilities SETUID, SETGID, KILL and CHOWN; give it these four'
  if (isMapped(range, '/proc/self/uid_map') && isMapped(range, '/proc/self/gid_map')) return undefined
  return `runner.uids (${uids}) does not exist in this user namespace; choose a range that does`
}

const asUser = (name: string): Isolation => {
  const owner = commandUser(name)
  return owner === undefined
    ? { kind: 'none', problem: `runner.user is root: ${REACH}` }
    : {
        kind: 'user',
        owner,
        problem: `runner.user gives all runs the user ${name}: a step can read the files and processes of every other run; leave runner.user out`,
      }
}

const inSandbox = (settings: IsolationSettings): Isolation => {
  const { files, folders: tools, dataDir, artifacts, workflows, worker, runner } = settings
  const { home, homeMode } = runner
  const homes = home === undefined ? [] : [home]
  const own = files.map(({ path }) => path)
  // Others could read what lies beside a file unless its folder is closed to them.
  const folders = own.map((path) => dirname(path)).filter(isPrivate)
  const paths = parseAllowedPaths(runner.paths)
  const sandbox = findSandbox(runner.path, {
    hidden: [
      dataDir,
      artifacts.folder,
      worker.folder,
      tools.snapshots,
      homedir(),
      runner.dockerSocket,
      ...(homeMode === 'workspace' ? homes : []),
      ...folders,
      ...own,
    ],
    visible: [
      ...runner.path.split(':'),
      ...workflows.folders,
      ...readableFolders(tools),
      ...(homeMode === 'shared' ? homes : []),
      ...(homeMode === 'workspace' ? homes.map(skeletonOf) : []),
      ...paths.filter(({ write }) => !write).map(({ path }) => path),
    ],
    writable: [
      ...(homeMode === 'shared-rw' ? homes : []),
      ...paths.filter(({ write }) => write).map(({ path }) => path),
    ],
  })
  if (!('problem' in sandbox)) return { kind: 'bubblewrap', sandbox }
  return {
    kind: 'none',
    problem: `this program is not root, and ${sandbox.problem}: ${REACH}; install bubblewrap where user namespaces are allowed, or run this program as root`,
  }
}

/** The isolation to work with. Throws when the settings demand more than there is. */
export function demandIsolation(settings: IsolationSettings, held: Privileges = privileges()): Isolation {
  const found = findIsolation(settings, held)
  const wanted = settings.runner.isolation
  if (wanted === 'auto' || wanted === 'none' || wanted === found.kind) return found
  if (!('problem' in found)) {
    if (wanted === 'require') return found
    throw new Error(
      `runner.isolation (SCANFARM_RUNNER_ISOLATION) is ${wanted}, and runs would be kept apart by ${found.kind} here: ${WHERE[wanted]}`,
    )
  }
  throw new Error(`runner.isolation (SCANFARM_RUNNER_ISOLATION) is ${wanted}, and ${found.problem}`)
}

const WHERE = {
  uids: 'uids need a program that runs as root',
  bubblewrap: 'bubblewrap is for programs that do not run as root',
}

/** In a line of a log or a report. */
export const describeIsolation = (isolation: Isolation): string => {
  switch (isolation.kind) {
    case 'uids': {
      const { first, last } = isolation.range
      return `commands of each workspace run as a user of their own, of the uids ${first} to ${last}`
    }
    case 'bubblewrap':
      return `commands run in namespaces of their own, made by ${isolation.sandbox.program}`
    default:
      return `commands are not isolated: ${isolation.problem}`
  }
}

/** The umask of commands whose group is theirs alone, and of those that may share it. */
const UMASKS = { uids: '007', user: '077', bubblewrap: '077', none: undefined }

/** What the host runner needs to know of it. */
export const hostOptions = (
  isolation: Isolation,
  processes: number,
): Pick<HostRunnersOptions, 'user' | 'bounds' | 'sandbox'> => ({
  ...(isolation.kind === 'user' && { user: isolation.owner }),
  ...(isolation.kind === 'bubblewrap' && { sandbox: isolation.sandbox }),
  bounds: {
    ...(UMASKS[isolation.kind] !== undefined && { umask: UMASKS[isolation.kind] }),
    // The bound counts all processes of a user: where that is the user of this program, it would count too.
    ...((isolation.kind === 'uids' || isolation.kind === 'user') && { processes }),
  },
})

/** Files with secrets that commands can read in spite of the isolation, and what to do about them. */
export const openSecrets = ({ files }: Pick<IsolationSettings, 'files'>, { kind }: Isolation): string[] => {
  if (kind !== 'uids' && kind !== 'user') return []
  return files
    .filter(({ path, holdsSecrets }) => holdsSecrets && isOpenToOthers(path))
    .map(({ path }) => `${path} holds secrets and every step can read it: chmod o-r ${path}`)
}

/** For the log of a program that is about to take runs. */
export const logIsolation = (settings: IsolationSettings, log: ExecutorLog): void => {
  const isolation = demandIsolation(settings)
  for (const reason of openSecrets(settings, isolation)) log.warn('a secret is open to commands', { reason })
  if ('problem' in isolation) log.warn('commands are not isolated', { reason: isolation.problem })
  else log.info('commands are isolated', { how: describeIsolation(isolation) })
}
