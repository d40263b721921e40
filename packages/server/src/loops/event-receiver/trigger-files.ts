import { join } from 'node:path'
import { workFolderOf } from '@scanfarm/executor'
import { parseAllowedPaths, type TriggerFiles } from '@scanfarm/workflow'
import type { ServerContext } from '../../context.ts'

/** Files that functions of triggers may read on this server: workspaces of its own slots, and those of the settings. */
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
