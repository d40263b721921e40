import { sep } from 'node:path'
import type { RunnerContext } from '@scanfarm/contracts'

type Folders = Pick<RunnerContext, 'folder' | 'workspace'>

/** The folders that commands of a run share with this machine. */
export const foldersOf = ({ folder, workspace }: Folders): string[] =>
  workspace === undefined || workspace === folder ? [folder] : [folder, workspace]

/** The working directory of commands that set none. */
export const startFolder = ({ folder, workspace }: Folders): string => workspace ?? folder

/** The folder that contains a path; the run's own folder for other paths, which are refused later. */
export const folderAround = (path: string, folders: Folders): string =>
  foldersOf(folders).find((folder) => path === folder || path.startsWith(folder + sep)) ?? folders.folder
