import {
  createNotifyService,
  givenOf,
  parseAllowedPaths,
  type FunctionServices,
  type GivenSettings,
} from '@scanfarm/workflow'
import { createRunners, dockerOptions, type DockerSettings, type Runners } from '@scanfarm/runners'
import { WorkFolders } from './folders.ts'
import { Homes } from './homes.ts'
import {
  demandIsolation,
  findIsolation,
  hostOptions,
  type Isolation,
  type IsolationSettings,
} from './isolation.ts'
import { llmSettings, type LlmChoice } from './llm-settings.ts'
import { notifySettings, type NotifyChoice } from './notify-settings.ts'
import type { ExecutorLog } from './log.ts'
import type { ExecutorOptions } from './options.ts'
import { folderProblems, openToolFolders } from './tool-folders.ts'
import { openUsers } from './users/open-users.ts'

const MINUTE_MS = 60_000

/** The part of the settings file about executing runs. */
export interface ExecutorSettings extends IsolationSettings {
  readonly workflows: IsolationSettings['workflows'] &
    GivenSettings['workflows'] & { readonly strictParams: boolean }
  readonly runner: DockerSettings &
    GivenSettings['runner'] &
    IsolationSettings['runner'] & {
      readonly processes: number
      readonly sshHosts: readonly string[]
      readonly sshKeyFile: string | undefined
      readonly sshKnownHosts: string | undefined
    }
  readonly runs: {
    readonly cancelGraceMs: number
    readonly expressionMs: number
    readonly maxMinutes: number
    readonly stepLogBytes: number
  }
  readonly artifacts: IsolationSettings['artifacts'] & { readonly maxBytes: number }
  readonly llm: LlmChoice
  readonly notify: NotifyChoice
}

/** Homes that outlast runs; none where the settings name no folder for them. */
export const homesOf = ({ runner }: ExecutorSettings, isolation: Isolation): Homes | undefined => {
  const { home, homeMode } = runner
  if (home === undefined) return undefined
  if (homeMode === 'shared-rw' && isolation.kind === 'uids')
    throw new Error(
      'runner.home_mode (SCANFARM_RUNNER_HOME_MODE) is shared-rw, and commands of each workspace run as a user of their own here, who could not use what the others leave: choose workspace or shared, or name a runner.user',
    )
  const homes = new Homes(home, homeMode)
  homes.prepare(isolation.kind === 'user' ? isolation.owner : undefined)
  return homes
}

/** What every executor of a machine has in common, whatever runs it takes and wherever their commands execute. */
export const executorSettings = (
  settings: ExecutorSettings,
  storage: FunctionServices['storage'],
  { endUser }: Pick<Runners, 'endUser'>,
) => {
  const { worker, workflows, runner, runs, artifacts, llm, notify } = settings
  const isolation = demandIsolation(settings)
  const homes = homesOf(settings, isolation)
  const users = openUsers(isolation, worker.folder, endUser, homes)
  return {
    folder: worker.folder,
    users,
    homes,
    given: givenOf({ ...settings, folders: openToolFolders(settings.folders, users.sample) }),
    path: runner.path,
    allowedPaths: [
      ...parseAllowedPaths(runner.paths),
      ...settings.files.map(({ path }) => ({ path, write: false, closed: true })),
    ],
    graceMs: runs.cancelGraceMs,
    expressionMs: runs.expressionMs,
    strictParams: workflows.strictParams,
    defaultTimeoutMs: runs.maxMinutes === 0 ? undefined : runs.maxMinutes * MINUTE_MS,
    services: { storage, llm: llmSettings(llm), notify: createNotifyService(notifySettings(notify)) },
    limits: { stepLogBytes: runs.stepLogBytes, artifactBytes: artifacts.maxBytes },
  } satisfies Partial<ExecutorOptions>
}

/** Where work folders of runs really are, here and on machines that runs are taken to; it is made. */
export const workFolderOf = (settings: ExecutorSettings): string => {
  const isolation = findIsolation(settings)
  return new WorkFolders(settings.worker.folder, openUsers(isolation, '', async () => {}).sample).base
}

/** The runners of this machine; `farmId` marks its containers. */
export const openRunners = (settings: ExecutorSettings, farmId: string): Runners => {
  const { runner, runs } = settings
  const graceMs = runs.cancelGraceMs
  return createRunners({
    host: { graceMs, ...hostOptions(demandIsolation(settings), runner.processes) },
    docker: { ...dockerOptions(runner), graceMs, owner: farmId },
    ssh: {
      graceMs,
      hosts: runner.sshHosts,
      keyFile: runner.sshKeyFile,
      knownHosts: runner.sshKnownHosts,
    },
  })
}

/** For the log of a program that is about to take runs. */
export const logFolders = (settings: IsolationSettings, log: ExecutorLog): void => {
  const { sample } = openUsers(findIsolation(settings), '', async () => {})
  for (const reason of folderProblems(openToolFolders(settings.folders, sample), sample))
    log.warn('a folder for tools cannot be used', { reason })
}
