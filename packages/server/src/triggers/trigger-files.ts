import { join } from 'node:path'
import { workFolderOf } from '@scanfarm/worker'
import { type TriggerFiles } from '@scanfarm/engine'
import { parseAllowedPaths } from '@scanfarm/functions'
import type { ServerContext } from '../context.ts'

/** Files that trigger functions may read on this server: workspaces of its own slots and files of the settings. */
export const triggerFiles = (config: ServerContext['config']): (() => TriggerFiles) => {
  let files: TriggerFiles | undefined
  return () =>
    (files ??= {
      workspaces: join(workFolderOf(config), 'workspaces'),
      paths: [
        ...parseAllowedPaths(config.runner.paths),
        ...config.files.map(({ path }) => ({ path, write: false, closed: true })),
      ],
    })
}
