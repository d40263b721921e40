import { createNotifyService, parseAllowedPaths, type FunctionServices } from '@scanfarm/workflow'
import { createRunners, dockerOptions, type DockerSettings, type Runners } from '@scanfarm/runners'
import { commandUser } from './command-user.ts'
import { WorkFolders } from './folders.ts'
import { llmSettings, type LlmChoice } from './llm-settings.ts'
import { notifySettings, type NotifyChoice } from './notify-settings.ts'
import type { ExecutorOptions } from './options.ts'

const MINUTE_MS = 60_000

/** The part of the settings file about executing runs. */
export interface ExecutorSettings {
  readonly worker: { readonly folder: string }
  readonly workflows: { readonly strictParams: boolean }
  readonly runner: DockerSettings & {
    readonly path: string
    readonly user: string | undefined
    readonly paths: readonly string[]
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
  readonly artifacts: { readonly maxBytes: number }
  readonly llm: LlmChoice
  readonly notify: NotifyChoice
}

/** What every executor of a machine has in common, whatever runs it takes and wherever their commands execute. */
export const executorSettings = (
  { worker, workflows, runner, runs, artifacts, llm, notify }: ExecutorSettings,
  storage: FunctionServices['storage'],
) =>
  ({
    folder: worker.folder,
    owner: commandUser(runner.user),
    path: runner.path,
    allowedPaths: parseAllowedPaths(runner.paths),
    graceMs: runs.cancelGraceMs,
    expressionMs: runs.expressionMs,
    strictParams: workflows.strictParams,
    defaultTimeoutMs: runs.maxMinutes === 0 ? undefined : runs.maxMinutes * MINUTE_MS,
    services: { storage, llm: llmSettings(llm), notify: createNotifyService(notifySettings(notify)) },
    limits: { stepLogBytes: runs.stepLogBytes, artifactBytes: artifacts.maxBytes },
  }) satisfies Partial<ExecutorOptions>

/** Where work folders of runs really are, here and on machines that runs are taken to; it is made. */
export const workFolderOf = ({ worker, runner }: ExecutorSettings): string =>
  new WorkFolders(worker.folder, commandUser(runner.user)).base

/** The runners of this machine; `farmId` marks its containers. */
export const openRunners = ({ runner, runs }: ExecutorSettings, farmId: string): Runners => {
  const graceMs = runs.cancelGraceMs
  return createRunners({
    host: { graceMs, user: commandUser(runner.user) },
    docker: { ...dockerOptions(runner), graceMs, owner: farmId },
    ssh: {
      graceMs,
      hosts: runner.sshHosts,
      keyFile: runner.sshKeyFile,
      knownHosts: runner.sshKnownHosts,
    },
  })
}
