import { sep } from 'node:path'
import type { RunnerContext } from '@scanfarm/contracts'

type Folders = Pick<RunnerContext, 'folder' | 'workspace'>

/** All that commands of a run have in common with this machine. */
export const foldersOf = ({ folder, workspace }: Folders): string[] =>
  workspace === undefined || workspace === folder ? [folder] : [folder, workspace]

/** Where a command begins that says nothing else: where the run's files are. */
export const startFolder = ({ folder, workspace }: Folders): string => workspace ?? folder

/** The one of them that a path lies in; the run's own for paths that lie in none, which are refused there. */
export const folderAround = (path: string, folders: Folders): string =>
  foldersOf(folders).find((folder) => path === folder || path.startsWith(folder + sep)) ?? folders.folder
