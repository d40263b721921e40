import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '@scanfarm/platform'
import { makeHome } from '@scanfarm/runners'
import { givenOf, type ExecuteInput } from '@scanfarm/workflow'
import packageJson from '../../package.json' with { type: 'json' }

export interface OwnRun {
  readonly target: string
  readonly workspace: string
  readonly output: string
  readonly temp: string
}

/** The home that the settings name, else that of the person. */
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

/** As workers do; a person who cannot make them runs what does without. */
const makeFolders = async (folders: Config['folders']): Promise<void> => {
  for (const [name, folder] of Object.entries(folders))
    if (folder !== '')
      await mkdir(folder, { recursive: true, mode: MODES[name] ?? FOR_ALL }).catch(() => undefined)
}

/** What the settings and the person give to a run of that person. */
export const ownEnvironment = async (
  config: Config,
  env: NodeJS.ProcessEnv,
  run: OwnRun,
): Promise<Pick<ExecuteInput, 'folders' | 'env' | 'variables' | 'secrets' | 'version'>> => {
  await makeFolders(config.folders)
  const { env: given, variables, secrets, folders } = givenOf(config)
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
