import { createNotifyService, parseAllowedPaths, type FunctionServices } from '@scanfarm/workflow'
import { createRunners, dockerOptions, type DockerSettings, type Runners } from '@scanfarm/runners'
import { WorkFolders } from './folders.ts'
import { demandIsolation, findIsolation, hostOptions, type IsolationSettings } from './isolation.ts'
import { llmSettings, type LlmChoice } from './llm-settings.ts'
import { notifySettings, type NotifyChoice } from './notify-settings.ts'
import type { ExecutorOptions } from './options.ts'
import { openUsers } from './users/open-users.ts'

const MINUTE_MS = 60_000

/** The part of the settings file about executing runs. */
export interface ExecutorSettings extends IsolationSettings {
  readonly workflows: IsolationSettings['workflows'] & { readonly strictParams: boolean }
  readonly runner: DockerSettings &
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

/** What every executor of a machine has in common, whatever runs it takes and wherever their commands execute. */
export const executorSettings = (
  settings: ExecutorSettings,
  storage: FunctionServices['storage'],
  { endUser }: Pick<Runners, 'endUser'>,
) => {
  const { worker, workflows, runner, runs, artifacts, llm, notify } = settings
  return {
    folder: worker.folder,
    users: openUsers(demandIsolation(settings), worker.folder, endUser),
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
