import { programsToInterrupt } from '@scanfarm/tools'
import type { Owner } from '@scanfarm/contracts'
import type { Logger } from '@scanfarm/platform'
import { operatorInputOf } from '@scanfarm/engine'
import { createNotifyService, parseAllowedPaths, type FunctionServices } from '@scanfarm/functions'
import { createRunners, dockerOptions, type Runners } from '@scanfarm/runners'
import { WorkFolders } from '../workspaces/work-folders.ts'
import { Homes } from '../workspaces/homes.ts'
import { demandIsolation, findIsolation, hostOptions, type Isolation } from '../users/isolation.ts'
import { llmSettings, notifySettings } from './function-settings.ts'
import type { ExecutorOptions } from '../slots/options.ts'
import type { RunSettings } from './settings.ts'
import { folderProblems, openToolFolders, toolFolders, type ToolFolders } from '../tools/tool-folders.ts'
import { openUsers } from '../users/open-users.ts'

const MINUTE_MS = 60_000

/** Homes that outlast runs; undefined when `runner.home` is not set. */
export const homesOf = ({ runner }: RunSettings, isolation: Isolation): Homes | undefined => {
  const { home, homeMode } = runner
  if (home === undefined) return undefined
  if (homeMode === 'shared-rw' && isolation.kind === 'uids')
    throw new Error(
      'runner.home_mode (SCANFARM_RUNNER_HOME_MODE) is shared-rw, but the commands of each workspace run as a different user, who cannot use the files of the others: set it to workspace or shared, or set runner.user',
    )
  const homes = new Homes(home, homeMode)
  homes.prepare(isolation.kind === 'user' ? isolation.owner : undefined)
  return homes
}

/** Options that all executors of a machine share. */
export const sharedOptions = (
  settings: RunSettings,
  storage: FunctionServices['storage'],
  { endUser }: Pick<Runners, 'endUser'>,
) => {
  const { worker, workflows, runner, runs, resume, artifacts, llm, notify, http } = settings
  const isolation = demandIsolation(settings)
  const homes = homesOf(settings, isolation)
  const users = openUsers(isolation, worker.folder, endUser, homes)
  return {
    folder: worker.folder,
    users,
    homes,
    operatorInput: operatorInputOf({
      ...settings,
      folders: openToolFolders(toolFolders(settings), users.sample),
    }),
    path: runner.path,
    allowedPaths: [
      ...parseAllowedPaths(runner.paths),
      ...settings.files.map(({ path }) => ({ path, write: false, closed: true })),
    ],
    graceMs: runs.cancelGraceMs,
    stopAfterLease: runs.stopAfterLease,
    strictParams: workflows.strictParams,
    defaultTimeoutMs: runs.maxMinutes === 0 ? undefined : runs.maxMinutes * MINUTE_MS,
    services: {
      storage,
      llm: llmSettings(llm),
      notify: createNotifyService(notifySettings(notify)),
      http: { allowPrivate: http.allowPrivate },
    },
    limits: { artifactBytes: artifacts.maxBytes, resumeBytes: resume.maxBytes },
  } satisfies Partial<ExecutorOptions>
}

/** A user of commands, if they are others than the user of this process. */
const sampleOf = (settings: RunSettings): Owner | undefined =>
  openUsers(findIsolation(settings), '', async () => {}).sample

/** The folder that contains work folders of runs, on this machine and on cloud machines. Makes it. */
export const workFolderOf = (settings: RunSettings): string =>
  new WorkFolders(settings.worker.folder, sampleOf(settings)).base

/** The runners of this machine; `farmId` marks its containers. */
export const openRunners = (settings: RunSettings, farmId: string): Runners => {
  const { runner, runs } = settings
  const stop = { graceMs: runs.cancelGraceMs, interrupts: programsToInterrupt() }
  return createRunners({
    host: { ...stop, ...hostOptions(demandIsolation(settings), runner) },
    docker: { ...dockerOptions(runner), ...stop, owner: farmId },
    ssh: { ...stop, hosts: runner.sshHosts, keyFile: runner.sshKeyFile, knownHosts: runner.sshKnownHosts },
  })
}

/** The folders for tools; makes missing ones. */
export const toolFoldersOf = (settings: RunSettings): ToolFolders =>
  openToolFolders(toolFolders(settings), sampleOf(settings))

/** Logs folders for tools that commands cannot use. */
export const logFolders = (settings: RunSettings, log: Logger): void => {
  for (const reason of folderProblems(toolFoldersOf(settings), sampleOf(settings)))
    log.warn('commands cannot use a folder for tools', { reason })
}
