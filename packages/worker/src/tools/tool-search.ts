import { workFolderOf } from '../settings/executor-options.ts'
import type { RunSettings } from '../settings/settings.ts'
import { toolFolders } from './tool-folders.ts'
import type { Machine } from '../slots/open-slots.ts'
import type { ToolSearch } from './usable-tools.ts'

/** Where commands of runs find programs on this machine. */
export const toolSearch = (
  config: RunSettings,
  { runners, executor }: Pick<Machine, 'runners' | 'executor'>,
): ToolSearch => ({
  runners,
  users: executor.users,
  workFolder: workFolderOf(config),
  path: `${toolFolders(config).binaries}:${config.runner.path}`,
})
