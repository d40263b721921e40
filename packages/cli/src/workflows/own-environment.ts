import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunnerProvider } from '@scanfarm/contracts'
import { operatorInputOf, type ExecuteInput } from '@scanfarm/engine'
import { createRunners, dockerOptions, makeHome } from '@scanfarm/runners'
import { toolFolders, type ToolFolders } from '@scanfarm/worker'
import type { Config } from '../settings.ts'
import packageJson from '../../package.json' with { type: 'json' }

export interface OwnRun {
  readonly target: string
  readonly workspace: string
  readonly output: string
  readonly temp: string
}

/** The home of the settings, or else of the user. */
const homeOf = async (
  { runner }: Config,
  env: NodeJS.ProcessEnv,
  { workspace, temp }: OwnRun,
): Promise<string> => {
  const { home, homeMode } = runner
  if (home === undefined) return env['HOME'] ?? temp
  if (homeMode !== 'workspace') {
    await mkdir(home, { recursive: true })
    return home
  }
  const own = join(home, 'workspaces', workspace)
  await makeHome(own, join(home, 'skel'))
  return own
}

const FOR_ALL = 0o755
const MODES: Readonly<Record<string, number>> = { base: 0o711, snapshots: 0o700 }

/** Creates the folders, as workers do. If the user is not allowed to, workflows that do not need them still run. */
const makeFolders = async (folders: ToolFolders): Promise<void> => {
  for (const [name, folder] of Object.entries(folders))
    if (folder !== '')
      await mkdir(folder, { recursive: true, mode: MODES[name] ?? FOR_ALL }).catch(() => undefined)
}

/** The environment of a run: from the settings and from the user. */
export const ownEnvironment = async (
  config: Config,
  env: NodeJS.ProcessEnv,
  run: OwnRun,
): Promise<Pick<ExecuteInput, 'folders' | 'env' | 'variables' | 'secrets' | 'version'>> => {
  const tools = toolFolders(config)
  await makeFolders(tools)
  const { env: given, variables, secrets, folders } = operatorInputOf({ ...config, folders: tools })
  const { PATH = config.runner.path, LANG = 'C.UTF-8' } = env
  const { output, temp, target } = run
  const HOME = await homeOf(config, env, run)
  return {
    folders: { ...folders, output, temp },
    env: { LANG, ...given, PATH, HOME, TMPDIR: temp, SCANFARM_TARGET: target, SCANFARM_OUTPUT: output },
    variables,
    secrets,
    version: packageJson.version,
  }
}

const ALL = ['*']

/** The runners of a run: commands and ssh use the user and agent of the caller, without limits for workers. */
export const createOwnRunners = (
  { runner, runs }: Config,
  agent: string | undefined,
  startNow = false,
): RunnerProvider => {
  const graceMs = runs.cancelGraceMs
  return createRunners({
    host: { graceMs, startNow },
    docker: {
      ...dockerOptions({ ...runner, dockerImages: ALL, dockerVolumes: ALL, dockerNetworks: ALL }),
      owner: `exec-${process.pid}`,
      graceMs,
    },
    ssh: { graceMs, keyFile: runner.sshKeyFile, knownHosts: runner.sshKnownHosts, agent },
  })
}
