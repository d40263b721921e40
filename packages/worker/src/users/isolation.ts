import { homedir } from 'node:os'
import { dirname } from 'node:path'
import type { Owner } from '@scanfarm/contracts'
import type { Logger } from '@scanfarm/platform'
import type { RunSettings } from '../settings/settings.ts'
import { findSandbox, type HostRunnersOptions, type Sandbox } from '@scanfarm/runners'
import { parseAllowedPaths } from '@scanfarm/functions'
import { type UidRange, commandUser, isMapped, readUidRange } from './uids.ts'
import { skeletonOf } from '../workspaces/homes.ts'
import { isOpenToOthers, isPrivate } from './open-files.ts'
import { readableFolders, toolFolders } from '../tools/tool-folders.ts'
import { privileges, type Privileges } from './privileges.ts'

/** How the commands of runs are isolated from this process and from each other. */
export type Isolation =
  | { readonly kind: 'uids'; readonly range: UidRange }
  | { readonly kind: 'bubblewrap'; readonly sandbox: Sandbox }
  /** All commands run as one user other than that of this process. */
  | { readonly kind: 'user'; readonly owner: Owner; readonly problem: string }
  | { readonly kind: 'none'; readonly problem: string }

const REACH =
  'a step can read the environment, the secrets and the files of this process and of every other run'

/** The isolation that these settings achieve on this machine, even if they require more. */
export function findIsolation(settings: RunSettings, held: Privileges = privileges()): Isolation {
  const { user, isolation } = settings.runner
  if (isolation === 'none') return { kind: 'none', problem: `runner.isolation is none: ${REACH}` }
  if (!held.isRoot) return inSandbox(settings)
  const range = readUidRange(user)
  if (range === undefined) return asUser(user)
  const problem = rangeProblem(range, held)
  if (problem === undefined) return { kind: 'uids', range }
  return { kind: 'none', problem: `${problem}: ${REACH}` }
}

const rangeProblem = (range: UidRange, held: Privileges): string | undefined => {
  if (!held.changesUsers)
    return 'this process is root without the capabilities SETUID, SETGID, KILL and CHOWN; grant these four'
  if (isMapped(range, '/proc/self/uid_map') && isMapped(range, '/proc/self/gid_map')) return undefined
  return `runner.user (${range.first}-${range.last}) does not exist in this user namespace; choose a range that does`
}

const asUser = (name: string): Isolation => {
  const owner = commandUser(name)
  return owner === undefined
    ? { kind: 'none', problem: `runner.user is root: ${REACH}` }
    : {
        kind: 'user',
        owner,
        problem: `runner.user is ${name}, so all commands run as this user: a step can read the files and processes of every other run; set a range of uids`,
      }
}

const inSandbox = (settings: RunSettings): Isolation => {
  const { files, dataDir, artifacts, workflows, worker, runner } = settings
  const { home, homeMode } = runner
  const homes = home === undefined ? [] : [home]
  const tools = toolFolders(settings)
  const dockerSocket = runner.dockerHost.replace(/^unix:\/\//, '')
  const own = files.map(({ path }) => path)
  // A private folder is hidden as a whole; otherwise only the file, since other users can read the folder anyway.
  const folders = own.map((path) => dirname(path)).filter(isPrivate)
  const paths = parseAllowedPaths(runner.paths)
  const sandbox = findSandbox(runner.path, {
    hidden: [
      dataDir,
      artifacts.folder,
      worker.folder,
      tools.snapshots,
      homedir(),
      ...(dockerSocket.startsWith('/') ? [dockerSocket] : []),
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
    problem: `this process is not root, and ${sandbox.problem}: ${REACH}; install bubblewrap where user namespaces are allowed, or run as root`,
  }
}

/** Throws when the settings require an isolation that this machine does not provide. */
export function demandIsolation(settings: RunSettings, held: Privileges = privileges()): Isolation {
  const found = findIsolation(settings, held)
  const wanted = settings.runner.isolation
  if (wanted === 'auto' || wanted === 'none' || wanted === found.kind) return found
  if (!('problem' in found)) {
    if (wanted === 'require') return found
    throw new Error(
      `runner.isolation (SCANFARM_RUNNER_ISOLATION) is ${wanted}, but this machine uses ${found.kind}: ${WHERE[wanted]}`,
    )
  }
  throw new Error(`runner.isolation (SCANFARM_RUNNER_ISOLATION) is ${wanted}, but ${found.problem}`)
}

const WHERE = {
  uids: 'uids requires a process that runs as root',
  bubblewrap: 'bubblewrap requires a process that does not run as root',
}

/** For a log or a report. */
export const describeIsolation = (isolation: Isolation): string => {
  switch (isolation.kind) {
    case 'uids': {
      const { first, last } = isolation.range
      return `the commands of each workspace run as a separate user, with a uid from ${first} to ${last}`
    }
    case 'bubblewrap':
      return `commands run in separate namespaces, created by ${isolation.sandbox.program}`
    default:
      return `commands are not isolated: ${isolation.problem}`
  }
}

/** 007 where the group of commands belongs to them alone, 077 where other users may share it. */
const UMASKS = { uids: '007', user: '077', bubblewrap: '077', none: undefined }

/** Most processes and threads of one workspace that has its own user. */
const PROCESSES = 4096

/** Options of the host runner. A setuid `bwrap` needs its privileges, and gives up new ones for its command. */
export const hostOptions = (
  isolation: Isolation,
  { newPrivileges }: Pick<RunSettings['runner'], 'newPrivileges'>,
): Pick<HostRunnersOptions, 'user' | 'bounds' | 'sandbox'> => ({
  ...(isolation.kind === 'user' && { user: isolation.owner }),
  ...(isolation.kind === 'bubblewrap' && { sandbox: isolation.sandbox }),
  bounds: {
    ...(UMASKS[isolation.kind] !== undefined && { umask: UMASKS[isolation.kind] }),
    noNewPrivileges: isolation.kind !== 'bubblewrap' && !newPrivileges,
    // The bound counts all processes of a user, so it must not apply to the user of this process.
    ...((isolation.kind === 'uids' || isolation.kind === 'user') && { processes: PROCESSES }),
  },
})

/** Files with secrets that commands can read despite the isolation, and how to close them. */
export const openSecrets = ({ files }: Pick<RunSettings, 'files'>, { kind }: Isolation): string[] => {
  if (kind !== 'uids' && kind !== 'user') return []
  return files
    .filter(({ path, containsSecrets }) => containsSecrets && isOpenToOthers(path))
    .map(({ path }) => `${path} holds secrets and every step can read it: chmod o-r ${path}`)
}

/** Logs how commands are isolated. Throws like `demandIsolation`. */
export const logIsolation = (settings: RunSettings, log: Logger): void => {
  const isolation = demandIsolation(settings)
  for (const reason of openSecrets(settings, isolation)) log.warn('commands can read a secret', { reason })
  if ('problem' in isolation) log.warn('commands are not isolated', { reason: isolation.problem })
  else log.info('commands are isolated', { how: describeIsolation(isolation) })
}
